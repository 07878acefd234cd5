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

  test.each([
    ['engine_error', 'The look failed.', 4],
    ['forge_unreachable', 'The forge could not be reached.', 4],
    ['engine_starting', 'The engine starts.', 0],
  ])(
    'a queue whose looks end with %s is told as one to look at, unless the engine starts',
    async (code, says, exit) => {
      const [repo] = activity([]).repos;
      const failing = {
        ...repo,
        last_reconcile_error_code: code,
        last_reconcile_error: says,
        last_reconcile: '2026-11-22T09:59:00.000Z',
        last_good_reconcile: null,
        next_look_at: null,
        queue: null,
      };
      const answer = await call(['doctor'], {
        'queue/activity': () => ({ ...activity([]), repos: [failing] }),
      });
      const told = answer.out.filter((line) => line.includes(': queue: '));
      expect([answer.code, told.map((line) => line.slice(0, 4))]).toEqual([
        exit,
        [exit === 0 ? 'ok  ' : 'look'],
      ]);
    },
  );

  test('a service that refuses the token is an error of the service', async () => {
    const refuse = () =>
      Response.json({ error: { code: 'invalid_token', message: 'no', retryable: false } }, { status: 401 });
    expect(await call(['doctor'], { 'queue/status': refuse })).toMatchObject({
      code: 69,
      complaint: 'invalid_token: no. Sign in again, or make a new API token.',
    });
  });
});
