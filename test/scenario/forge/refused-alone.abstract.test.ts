import { ForgeError } from '#core/ports/forge.ts';
import { dailyWindow, nextMinute } from '../../support/freeze-windows.ts';
import { type Hook, landedOf, stateOf, wrapForge } from '../hooks.ts';
import { givenProject, givenScheduled } from '../stories.ts';
import { createWorld, type World } from '../world.ts';

/** What the forge refuses, or fails to do, of one thing alone keeps nothing else from its way. */
const MINUTE = 60_000;

const failOn =
  (call: string, error: ForgeError, isMeant: (args: readonly unknown[]) => boolean = () => true): Hook =>
  async (name, args, answer) => {
    if (name === call && isMeant(args)) throw error;
    return answer();
  };

/** Looks so often, a minute apart, and gathers what the reconciles ended with. */
async function lookOften(world: World, times: number): Promise<readonly (string | null | undefined)[]> {
  const codes: (string | null | undefined)[] = [];
  for (let count = 0; count < times; count += 1) {
    codes.push((await world.reconcile())?.errorCode);
    await world.clock.advance(MINUTE);
  }
  return codes;
}

test('an open pull request whose head the repository does not have is no refusal of the queue', async () => {
  let head = '';
  const missing = new ForgeError('missing', 'GET commits/{sha}/status', 404);
  const world = await createWorld({
    wrapForge: wrapForge(failOn('readStatuses', missing, ([sha]) => sha === head)),
  });
  await givenProject(world.forge);
  // Its author pushed to the fork while it was closed, and reopened it by the API. It is not scheduled.
  const idle = await world.forge.openPullRequest({ branch: 'idle', files: { 'src/i.txt': 'i\n' } });
  head = (await world.forge.pull(idle)).headSha;
  const pr = await givenScheduled(world.forge, 'a');
  const codes = await lookOften(world, 12);
  expect(codes.filter((code) => code !== null)).toEqual([]);
  expect(landedOf(world)).toEqual([pr]);
});

test('one that left the list and cannot be read any more is not looked for without an end', async () => {
  let lost = 0;
  const away = new ForgeError('unreachable', 'GET pulls/{n}', 500);
  const world = await createWorld({
    wrapForge: wrapForge(failOn('readPullRequest', away, ([pr]) => pr === lost)),
  });
  await givenProject(world.forge);
  await world.forge.setProtection({ requiredApprovals: 1 });
  const pr = await givenScheduled(world.forge, 'a');
  await lookOften(world, 3);
  lost = pr;
  await world.forge.deletePullRequest(pr);
  const codes = await lookOften(world, 40);
  expect(codes.slice(0, 3)).toContain('forge_unreachable');
  expect(codes.slice(-5).filter((code) => code !== null)).toEqual([]);
});

test('a token that may not cancel gate runs keeps no branch from being removed', async () => {
  const denied = new ForgeError('denied', 'POST actions/runs/{id}/cancel', 403);
  const world = await createWorld({ wrapForge: wrapForge(failOn('cancelGateRun', denied)) });
  await givenProject(world.forge);
  world.forge.gateDurationMs = 20 * MINUTE;
  const pr = await givenScheduled(world.forge, 'a');
  await world.drain({ until: () => world.forge.runs().length > 0 });
  await lookOften(world, 1);
  await world.forge.cancelSchedule(pr);
  await lookOften(world, 1);
  const codes = await lookOften(world, 4);
  expect(codes.filter((code) => code !== null)).toEqual([]);
  expect((await world.record()).garbage).toEqual([]);
});

test('an account that may not schedule a merge keeps the others from nothing', async () => {
  let head = '';
  const denied = new ForgeError('denied', 'POST pulls/{n}/merge', 403);
  const world = await createWorld({ wrapForge: wrapForge(failOn('probeSchedule', denied)) });
  await givenProject(world.forge);
  const lost = await givenScheduled(world.forge, 'a');
  head = (await world.forge.pull(lost)).headSha;
  world.forge.mergeBehaviour = (pr) => ({ kind: pr === lost ? 'lost' : 'now' });
  await world.drain({ until: async () => (await stateOf(world, head)) === 'success' });
  const other = await givenScheduled(world.forge, 'b');
  await lookOften(world, 40);
  expect(landedOf(world)).toContain(other);
});

test.each([1, 4])('%s failures to remove the work branch cost no gate run', async (times) => {
  let left = times;
  const away = new ForgeError('unreachable', 'DELETE branches/{branch}', 502);
  const isWork = ([branch]: readonly unknown[]) => String(branch).startsWith('mq-work/') && left-- > 0;
  const world = await createWorld({ wrapForge: wrapForge(failOn('deleteBranch', away, isWork)) });
  await givenProject(world.forge);
  const prs = [await givenScheduled(world.forge, 'a'), await givenScheduled(world.forge, 'b')];
  await world.drain({ maxMs: 60 * MINUTE, until: () => landedOf(world).length === prs.length });
  expect(world.forge.runs()).toHaveLength(1);
  await lookOften(world, 20);
  expect((await world.forge.branches()).filter((name) => name.startsWith('mq-work/'))).toEqual([]);
});

test.each([
  ['fails to remove', new ForgeError('unreachable', 'DELETE branches/{branch}', 502)],
  ['lets the account remove', new ForgeError('denied', 'DELETE branches/{branch}', 403)],
])('a forge that %s no branch delays no landing by minutes', async (_what, error) => {
  let isKept = true;
  const world = await createWorld({ wrapForge: wrapForge(failOn('deleteBranch', error, () => isKept)) });
  await givenProject(world.forge);
  world.forge.gateDurationMs = 5_000;
  const [first, second] = [await givenScheduled(world.forge, 'a'), await givenScheduled(world.forge, 'b')];
  await givenScheduled(world.forge, 'c', 'BAD\n');
  const last = await givenScheduled(world.forge, 'd');
  await world.drain({ maxMs: 2 * MINUTE, until: () => landedOf(world).length === 3 });
  expect(landedOf(world)).toEqual([first, second, last]);
  isKept = false;
  await lookOften(world, 10);
  expect((await world.forge.branches()).filter((name) => name.startsWith('mq'))).toEqual([]);
});

test('a look that failed is made again soon, also where a freeze window has hours to go', async () => {
  let isAway = false;
  const away = new ForgeError('unreachable', 'GET pulls', 502);
  const world = await createWorld({
    wrapForge: wrapForge(failOn('listOpenPullRequests', away, () => isAway)),
  });
  await givenProject(world.forge);
  const since = nextMinute(world.clock.now());
  await world.settings({ freezeWindows: [dailyWindow(since, since + 180 * MINUTE)] });
  await world.clock.advance(since - world.clock.now() + MINUTE);
  await givenScheduled(world.forge, 'a');
  await lookOften(world, 2);
  isAway = true;
  const report = await world.reconcile();
  expect(report?.errorCode).toBe('forge_unreachable');
  expect((report?.wakeAt ?? Number.POSITIVE_INFINITY) - world.clock.now()).toBeLessThanOrEqual(30_000);
});

const denied = (call: string): ForgeError => new ForgeError('denied', call, 403);

test.each([
  ['the trees', 'readTree', 'GET git/trees/{sha}'],
  ['the commits', 'listOwnCommits', 'GET commits'],
  ['the statuses', 'readStatuses', 'GET commits/{sha}/status'],
  ['to write a status', 'postStatus', 'POST statuses/{sha}'],
])(
  'a forge that refuses %s of one head alone lets all others land, and tells it',
  async (_what, name, label) => {
    let head = '';
    const isOfHead = (args: readonly unknown[]) => args.includes(head);
    const world = await createWorld({ wrapForge: wrapForge(failOn(name, denied(label), isOfHead)) });
    await givenProject(world.forge);
    const first = await givenScheduled(world.forge, 'a');
    head = (await world.forge.pull(first)).headSha;
    await world.forge.pushToBase({ 'src/other.txt': 'other\n' });
    const others = [await givenScheduled(world.forge, 'b'), await givenScheduled(world.forge, 'c')];
    await lookOften(world, 40);
    const later = await givenScheduled(world.forge, 'd');
    await lookOften(world, 20);
    expect(landedOf(world)).toEqual([...others, later]);
    const events = await world.events();
    const refused = events.filter(({ event }) => event === 'pr_refused').map(({ pr }) => pr);
    expect(new Set(refused)).toEqual(new Set([first]));
  },
);

test.each([
  ['read', ['readTree', 'readTreeId', 'readCommit'], 'GET git/trees/{sha}'],
  ['written to', ['postStatus', 'deleteBranch', 'createBranch', 'applyPatch'], 'POST statuses/{sha}'],
] as const)(
  'a forge that may not be %s at all is told as that, and blames no pull request',
  async (_what, calls, label) => {
    let isRefused = false;
    const world = await createWorld({
      wrapForge: wrapForge(async (name, _args, answer) => {
        if (isRefused && calls.some((call) => call === name)) throw denied(label);
        return answer();
      }),
    });
    await givenProject(world.forge);
    for (const branch of ['a', 'b', 'c']) await givenScheduled(world.forge, branch);
    isRefused = true;
    const codes = await lookOften(world, 20);
    expect(codes).toContain('forge_access_denied');
    expect((await world.events()).filter(({ event }) => event === 'pr_refused')).toEqual([]);
  },
);
