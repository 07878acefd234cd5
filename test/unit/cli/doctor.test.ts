import { activity, call, PROVISIONING, REPO } from './call-program.ts';

describe('mergeyard doctor', () => {
  const healthy = { 'queue/activity': () => activity([]) };

  test('finds nothing where a queue moves', async () => {
    const { code, out } = await call(['doctor'], healthy);
    expect([code, out.filter((line) => !line.startsWith('ok'))]).toEqual([0, []]);
  });

  test('says each obstacle with its next step, and has an exit code for it', async () => {
    const standstill = {
      since: '2026-11-22T09:00:00.000Z',
      usual_seconds: 60,
      says: 'The gate hangs',
      next: 'Look.',
    };
    const { code, out } = await call(['doctor'], {
      'queue/activity': () => activity([], [], standstill),
      'queue/status': () => ({
        repos: [{ ...REPO, provisioning: { ...PROVISIONING, ci_gate: { status: 'missing', url: null } } }],
      }),
    });
    expect(code).toBe(4);
    expect(out.filter((line) => line.startsWith('look')).map((line) => line.slice(0, 60))).toEqual([
      expect.stringMatching(/^look acme\/app main: .*: Missing\. /),
      expect.stringMatching(/^look acme\/app main: queue: It stands still/),
    ]);
  });

  test('tells each part of the set-up that is not as it was, a wrong settings file with its lines', async () => {
    const drift = {
      kind: 'settings_file',
      since: null,
      by: 'unknown',
      repair: 'people',
      says: '.mergeyard.yml on the base is wrong: line 2: \u001b[2Jno',
      next: 'Land a correction.',
    };
    const [repo] = activity([]).repos;
    const { code, out } = await call(['doctor'], {
      'queue/activity': () => ({ ...activity([]), repos: [{ ...repo, drifts: [drift] }] }),
    });
    expect([code, out.filter((line) => line.startsWith('look'))]).toEqual([
      4,
      [
        'look acme/app main: settings file: .mergeyard.yml on the base is wrong: line 2: no. Land a correction.',
      ],
    ]);
  });

  test('a service that refuses the token is an error of the service', async () => {
    const refuse = () =>
      Response.json({ error: { code: 'invalid_token', message: 'no', retryable: false } }, { status: 401 });
    expect(await call(['doctor'], { 'queue/status': refuse })).toMatchObject({
      code: 69,
      complaint: 'invalid_token: no. Sign in again, or make a new API token.',
    });
  });
});
