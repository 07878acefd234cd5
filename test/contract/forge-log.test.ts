import { createForgeAdmin } from '#core/adapters/forge-http/admin.ts';
import { createForgeLog } from '#core/adapters/forge-http/gate/run-log.ts';
import { createForgeTransport } from '#core/adapters/forge-http/wire/transport.ts';
import type { HttpSend } from '#core/adapters/http-guard/http-send.ts';
import { GATE_LOG_BYTES_MAX, GATE_LOG_JOBS_MAX } from '#core/domain/api-limits.ts';
import { MASK } from '#core/domain/forge/log-text.ts';
import { Secret } from '#core/secret.ts';
import { PROFILE_NAMES, type ProfileName } from '../../local/forge/profiles.ts';
import { openFake } from './forge/fake-subject.ts';

const STAGING = 'mq/main/staging';
const GATE = 'queue-gate.yml';
const given: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of given.splice(0)) await each.stop();
});

/** A repository whose gate has these jobs, a staged commit, and the client of its logs. */
async function givenRun(
  profile: ProfileName,
  jobs: readonly (readonly [name: string, script: string])[],
  around: (send: HttpSend) => HttpSend = (send) => send,
) {
  const subject = await openFake(profile);
  given.push(subject);
  if (subject.fake === null) throw new Error('no fake');
  subject.fake.knobs.gate = 'run';
  const { instanceUrl, send, tokens } = subject.access;
  const clientToken = tokens.bot?.token ?? '';
  const steps = jobs.map(([name, script]) =>
    [`  ${name}:`, '    runs-on: docker', '    steps:', `      - run: ${JSON.stringify(script)}`].join('\n'),
  );
  const workflow = ['name: The gate', 'on:', '  push:', "    branches: ['mq/**']", 'jobs:', ...steps, ''];
  const file = `${subject.workflowDir}/${GATE}`;
  const slug = await subject.createRepo({ [file]: workflow.join('\n') });
  const token = new Secret(clientToken);
  const transport = createForgeTransport({ instanceUrl, slug, token, send: around(send), clock: subject });
  const admin = createForgeAdmin(transport);
  const sha = (
    await admin.commitFile({
      branch: 'main',
      newBranch: STAGING,
      path: 'staged.txt',
      content: 'x',
      message: 'staged',
    })
  ).sha;
  let reading = await admin.readGate(sha, STAGING, file);
  for (let tries = 0; reading.kind !== 'finished' && tries < 60; tries += 1) {
    await subject.wait();
    reading = await admin.readGate(sha, STAGING, file);
  }
  const url = reading.kind === 'finished' ? (reading.url ?? '') : '';
  const log = createForgeLog(transport, token);
  return { subject, clientToken, sha, url, read: () => log.readRunLog({ sha, url }) };
}

const FAILING = [
  ['passes', 'echo fine'],
  ['fails', 'echo expected 1; echo got 2; exit 1'],
] as const;

describe.each(PROFILE_NAMES)('the log of a gate run on %s', (profile) => {
  const offers = ['fj16', 'gt126', 'gt127'].includes(profile);
  test(offers ? 'is that of the jobs that failed' : 'is not offered by its API', async () => {
    const { read, url } = await givenRun(profile, FAILING);
    expect(url).toMatch(/\/actions\/runs\/\d+/);
    const log = await read();
    if (!offers) return expect(log).toEqual({ kind: 'not_offered' });
    expect(log).toMatchObject({ kind: 'jobs', jobs: [{ name: 'fails', result: 'failure', isCut: false }] });
    expect(log.kind === 'jobs' ? log.jobs[0]?.text : null).toMatch(/expected 1\ngot 2\n/);
  });
});

describe('the log of a gate run', () => {
  test('of a run that passed is that of all its jobs, and of some of many', async () => {
    const many = Array.from(
      { length: GATE_LOG_JOBS_MAX + 2 },
      (_, index) => [`j${index}`, 'echo fine'] as const,
    );
    const log = await (await givenRun('gt126', many)).read();
    expect(log.kind === 'jobs' ? log.jobs.map(({ name }) => name) : []).toEqual(
      many.slice(0, GATE_LOG_JOBS_MAX).map(([name]) => name),
    );
  });

  test.each([
    ['heeds the range', (send: HttpSend) => send],
    [
      'gives all of it',
      (send: HttpSend): HttpSend =>
        ({ headers: { range: _, ...headers }, ...request }) =>
          send({ ...request, headers }),
    ],
  ])('is its end, from a whole line on, where the forge %s', async (_what, around) => {
    const script = 'i=0; while [ $i -lt 9000 ]; do i=$((i + 1)); echo "line $i of many"; done; exit 1';
    const log = await (await givenRun('gt126', [['long', script]], around)).read();
    const [job] = log.kind === 'jobs' ? log.jobs : [];
    expect(job?.isCut).toBe(true);
    expect(Buffer.byteLength(job?.text ?? '')).toBeLessThanOrEqual(GATE_LOG_BYTES_MAX);
    expect(job?.text).toMatch(/^line \d+ of many\n/);
    expect(job?.text).toMatch(/line 9000 of many\n/);
  });

  test('has no token of the bot in it, however it is spelled, and nothing that moves a cursor', async () => {
    let token = '';
    const run = await givenRun('fj16', [['fails', 'cat token.txt; exit 1']], (send) => async (request) => {
      const answer = await send(request);
      if (!new URL(request.url).pathname.endsWith('/logs')) return answer;
      const said = `a ${token} \u001b[31m${token.slice(0, 5)}\u001b[0m${token.slice(5)} ${btoa(token)}\n`;
      return { ...answer, status: 200, headers: { 'content-type': 'text/plain' }, body: Buffer.from(said) };
    });
    token = run.clientToken;
    const log = await run.read();
    expect(log.kind === 'jobs' ? log.jobs[0]?.text : null).toBe(`a ${MASK} ${MASK} ${MASK}\n`);
  });

  test('of a run that the forge does not know, or of another repository, is none', async () => {
    const { subject, sha, url, clientToken } = await givenRun('gt126', FAILING);
    const { instanceUrl, send } = subject.access;
    const other = await subject.createRepo({ 'a.txt': 'a' });
    const token = new Secret(clientToken);
    const of = (slug: string) =>
      createForgeLog(createForgeTransport({ instanceUrl, slug, token, send, clock: subject }), token);
    expect(await of(other).readRunLog({ sha, url })).toEqual({ kind: 'no_run' });
    const own = new URL(url).pathname.split('/').slice(1, 3).join('/');
    expect(await of(own).readRunLog({ sha, url: `${url}999` })).toEqual({ kind: 'no_run' });
    expect((await of(own).readRunLog({ sha, url: `${url}/jobs/0` })).kind).toBe('jobs');
  });
});
