import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from '../../support/run-program.ts';

const ENV = { PATH: process.env.PATH, HOME: '/nonexistent' };
const KEY = 'a-service-key-of-many-letters';
/** The discard port: no service answers there. */
const NOWHERE = 'http://127.0.0.1:9';

const invite = (keyFile: string) =>
  runProgram(
    'bin/admin.ts',
    ['invite', '--email', 'ada@example.org', '--identity', NOWHERE, '--service-key-file', keyFile],
    ENV,
  );

test('a key file that cannot be read is named, and nothing is asked', async () => {
  const { code, output } = await invite('/nonexistent/key');
  expect([code, output]).toEqual([1, expect.stringContaining('/nonexistent/key could not be read')]);
});

test('a provider that does not answer is told in words, without the key', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'admin-')), 'key');
  writeFileSync(file, KEY);
  const { code, output } = await invite(file);
  expect([code, output]).toEqual([1, expect.stringContaining('the identity provider: no answer')]);
  expect(output).not.toContain(KEY);
});
