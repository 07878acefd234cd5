import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createEngineForge } from '#core/adapters/forge-http/engine-forge.ts';
import { createGuardedHttp } from '#core/adapters/http-guard/guarded-http.ts';
import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import { Secret } from '#core/secret.ts';
import { BOT, createFakeForge } from '../../local/forge/fake-forge.ts';
import { givenHeldLease } from '../builders/held-lease.ts';
import { GATE_FILE, GATE_PATH } from '../scenario/stories.ts';
import { createWorldOn } from '../scenario/world.ts';
import { countOption, option } from '../simulation/options.ts';
import { checkCall, endWithUsage, type Usage } from '../support/usage.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { ReplayGit } from './history.ts';

const USAGE: Usage = {
  script: 'replay',
  does: 'Opens the next commits of a local clone as pull requests on the fake forge, lands them, and compares each landed tree with the merge of git.',
  options: {
    '--from REF': 'the commit that the replay begins at; needed',
    '--repo PATH': 'the clone (.)',
    '--until REF': 'the last commit (HEAD)',
    '--count N': 'commits (100)',
    '--open M': 'pull requests open at once (10)',
    '--order kept': 'no commit overtakes another',
  },
};
checkCall(USAGE);

/**
 * Takes a local clone, opens its next commits as pull requests on the fake forge, so many at a time, each with its change alone, and lands them through the
 * queue, on virtual time. Each landed tree is compared with git's own merge. A commit whose change does not go on the base
 * of its round waits for a later one, and may be overtaken by others unless the order is kept. The last line is one JSON object.
 */
/** From a pressed button to the first look: the median of `npm run bench:wake`. */
const SCHEDULED_FOR_MS = 17_000;
const source = resolve(option('repo') ?? '.');
const count = countOption('count', 100);
const openMax = countOption('open', 10);
const isInOrder = option('order') === 'kept';
const from = option('from');
if (from === undefined) endWithUsage(USAGE, '--from names the commit that the replay begins at.');

const dataDir = mkdtempSync(join(tmpdir(), 'replay-'));
const clock = new VirtualClock();
const fake = createFakeForge({
  dataDir,
  timers: clock,
  knobs: { gateDurationMs: 120_000, actionsDelayMs: 500 },
});
const address = await fake.start();
const { control } = fake;
const http = createGuardedHttp({
  allowHosts: [new URL(address.httpsUrl).host],
  caPem: readFileSync(address.caFile, 'utf8'),
});
const token = new Secret(fake.addToken(BOT));
const newClient = () =>
  createEngineForge(givenHeldLease(), {
    instanceUrl: address.httpsUrl,
    slug: control.slug,
    token,
    send: http.send,
    clock,
  });
const world = await createWorldOn(
  clock,
  control,
  newClient,
  { repo: { bisectFanout: 4, mergeStyle: 'squash', wakeupMode: 'webhook' }, lastingEngine: true },
  () => fake.settle(),
);

const [bare = ''] = readdirSync(join(dataDir, 'repositories'));
const git = new ReplayGit(source, join(dataDir, 'repositories', bare));
const begin = git.resolve(from);
const commits = git.listCommits(begin, option('until') ?? 'HEAD', count);
git.copy([begin, ...commits]);
const parents = new Map(commits.map((commit, index) => [commit, commits[index - 1] ?? begin]));
await control.pushBranch('main', git.commitWithFile(begin, await control.tip('main'), GATE_PATH, GATE_FILE));
await fake.settle();
control.clearCalls();

const started = performance.now();
const startedAt = clock.now();
const heads = new Map<number, string>();
const wrongTrees: number[] = [];
const refusedThoughClean: string[] = [];
let waited = 0;
let rounds = 0;
let left = [...commits];
while (left.length > 0) {
  rounds += 1;
  const tip = await control.tip('main');
  const later: string[] = [];
  const opened = new Map<number, string>();
  for (const [index, commit] of left.entries()) {
    const isOvertaking = isInOrder && later.length > 0;
    const mayOpen = opened.size < openMax && index < 2 * openMax && !isOvertaking;
    const head = mayOpen ? git.pick(commit, parents.get(commit) ?? '', tip) : null;
    if (head === null) {
      later.push(commit);
      continue;
    }
    const branch = `replay-${rounds}-${commit.slice(0, 10)}`;
    // A forge takes a title that begins with "WIP:" for a draft, which is not merged.
    const title = `Replay: ${git.subjectOf(commit)}`;
    const pr = await control.openPullRequest({ branch, title, head });
    await control.schedule(pr, 'squash');
    opened.set(pr, commit);
    heads.set(pr, head);
  }
  if (opened.size === 0) {
    // Git itself finds a conflict, or nothing left to change: others that it stands on went before or behind it.
    console.error(`git has no change of ${later[0]?.slice(0, 10)} for the base`);
    left = later.slice(1);
    waited += 1;
    continue;
  }
  await clock.advance(SCHEDULED_FOR_MS);
  await fake.settle();
  const before = control.merges().length;
  // A hook of the service tells of each run, as where it is deployed.
  await world.store.noteHeard('repo-1', 'run', clock.now());
  await world.drain({ heard: () => control.runs().filter(({ state }) => state !== 'running').length });
  for (const { pr, firstParent, tree } of control.merges().slice(before))
    if (git.merge(firstParent, heads.get(pr) ?? '') !== tree) wrongTrees.push(pr);
  const landed = new Set(control.merges().map(({ pr }) => pr));
  const end = await control.tip('main');
  const again: string[] = [];
  for (const [pr, commit] of opened) {
    if (landed.has(pr)) continue;
    again.push(commit);
    if (git.merge(end, heads.get(pr) ?? '') !== null) refusedThoughClean.push(`${pr} ${commit.slice(0, 10)}`);
    const said = await control.status(heads.get(pr) ?? '', DEFAULT_SERVICE_NAME);
    console.error(`#${pr} ${commit.slice(0, 10)} did not land: ${said?.description ?? 'no status'}`);
    await control.close(pr);
  }
  const hasLanded = again.length < opened.size;
  if (!hasLanded) console.error(`round ${rounds}: nothing landed of ${opened.size}`);
  left = [...again, ...later].slice(hasLanded ? 0 : 1);
  console.error(
    `round ${rounds}: ${opened.size} opened, ${opened.size - again.length} landed, ${left.length} to go`,
  );
}
const calls = control.calls().filter(({ by }) => by === BOT);
const callsOfEach: Record<string, number> = {};
for (const { call } of calls) callsOfEach[call] = (callsOfEach[call] ?? 0) + 1;
const landed = control.merges().length;
const summary = {
  repo: source.split('/').at(-1),
  commits: commits.length,
  landed,
  rounds,
  opened: heads.size,
  opened_again_after_a_conflict: heads.size - landed,
  left_out_by_git: waited,
  wrong_trees: wrongTrees,
  refused_though_git_merges: refusedThoughClean,
  gate_runs: control.runs().length,
  calls: calls.length,
  calls_of_each: callsOfEach,
  calls_per_landed: Math.round((10 * calls.length) / Math.max(1, landed)) / 10,
  forge_minutes: Math.round((clock.now() - startedAt) / 60_000),
  seconds: Math.round((performance.now() - started) / 1000),
};
console.log(JSON.stringify(summary));
http.close();
await fake.stop();
rmSync(dataDir, { recursive: true, force: true });
if (wrongTrees.length + refusedThoughClean.length > 0) process.exitCode = 1;
