import { run } from '../../../cli/run.ts';

export const PROVISIONING = {
  webhook: { status: 'configured' },
  protection: { status: 'configured', detail: null, required: true },
  ci_gate: { status: 'verified', url: null },
};
export const REPO = {
  id: 'r',
  name: 'acme/app',
  base_branch: 'main',
  queue_enabled: true,
  pause: null,
  provisioning: PROVISIONING,
  hold_reason: null,
  last_delivery_at: null,
  gate_events: { status: null, run: null },
  gate: 'workflow',
  status_context: 'q',
};
export const place = (pr: number, state: string) => ({
  pr,
  title: `Change ${pr}`,
  state,
  priority: 'normal',
});
export const event = (pr: number) => ({
  repo_id: 'r',
  timestamp: '2026-11-22T10:00:00.000Z',
  event: 'pr_landed',
  pr,
  title: `Change ${pr}`,
});
export const activity = (
  line: readonly object[],
  events: readonly object[] = [],
  standstill: object | null = null,
  more = 0,
) => ({
  repos: [
    {
      repo_id: 'r',
      state: 'waiting',
      last_reconcile_error_code: null,
      standstill,
      freeze: null,
      queue: {
        line,
        line_more: more,
        block: { kind: 'staging', since: null, until: null, pr: null, run_url: null },
      },
    },
  ],
  recent_activity: events,
});

/** What a call of the command line prints and asks, of a service with these answers. */
export async function call(
  argv: readonly string[],
  answers: { readonly [path: string]: () => unknown } = {},
  isTerminal = false,
) {
  type Sent = { path: string; query?: string; body: unknown };
  const [out, complaints, sent]: [string[], string[], Sent[]] = [[], [], []];
  let clock = Date.parse('2026-11-22T10:00:00.000Z');
  const code = await run(
    argv,
    {
      env: { MERGEYARD_URL: 'https://q.example.org', MERGEYARD_TOKEN: 'mgy_secret' },
      cwd: '/',
      fetch: async (url, init) => {
        const { pathname, search: query } = new URL(String(url));
        const path = pathname.replace('/api/v1/user/', '');
        sent.push({
          path,
          ...(query === '' ? {} : { query }),
          body: init?.body === undefined ? null : JSON.parse(String(init.body)),
        });
        const answer = answers[path]?.() ?? (path === 'queue/status' ? { repos: [REPO] } : [REPO]);
        return answer instanceof Response ? answer : Response.json(answer);
      },
      print: (line) => void out.push(line),
      isTerminal,
      readGit: async () => 'a'.repeat(40),
      now: () => clock,
      sleep: async (ms) => {
        clock += ms;
      },
    },
    async () => 'forge-token\n',
    (line) => complaints.push(line),
  );
  return { code, out, complaint: complaints.join('\n'), sent };
}

export const named = ['--repo', 'acme/app'];
