import { runProgram } from '../../support/run-program.ts';

const NOWHERE = {
  PATH: process.env.PATH,
  HOME: '/nonexistent',
  AWS_EC2_METADATA_DISABLED: 'true',
  AWS_JS_V3_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
};

describe('without an account of AWS to ask, it is said what is missing, and that nothing was asked', () => {
  test.each([
    ['bin/restore.ts', ['--table', 'live', '--restored', 'then'], 2],
    ['bin/restore.ts', ['--table', 'live', '--restored', 'then', '--at', '2026-11-22T10:00:00Z'], 2],
    ['bin/rewrap.ts', ['--table', 'live', '--key', 'new', '--key-version', '2'], 1],
    ['bin/admin.ts', ['audit', '--table', 'live', '--tenant', '7d1f6c1e-0f0e-4c6e-9d5b-1f1b6f0a0c11'], 1],
    ['bin/admin.ts', ['--email', 'ada@example.org', '--user-pool', 'eu-west-1_abc'], 1],
  ])('by %s %j', async (program, args, failure) => {
    const { code, output } = await runProgram(program, args, NOWHERE);
    expect([code, output]).toEqual([failure, expect.stringContaining('nothing was asked: credentials')]);
    expect(output).not.toContain('rows that were put back');
  });

  test('with a region alone as well', async () => {
    const args = ['--table', 'live', '--restored', 'then'];
    const { output } = await runProgram('bin/restore.ts', args, { ...NOWHERE, AWS_REGION: 'eu-west-1' });
    expect(output).toContain('nothing was asked: credentials');
  });
});
