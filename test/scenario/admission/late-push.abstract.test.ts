import { ForgeError } from '#core/ports/forge.ts';
import { setStage } from '../../simulation/scene-stage.ts';
import { type Hook, landedOf, told, wrapForge } from '../hooks.ts';
import { givenProject } from '../stories.ts';
import type { World } from '../world.ts';

/** A push entry that follows its schedule within seconds may tell of a push before it or after it (decisions 0003, 0225). */
const MINUTE = 60_000;
const SOON_MS = 5_000;
type Settings = Readonly<Record<string, unknown>>;
type Kind = { readonly fork?: true; readonly agit?: true; readonly author?: string };

interface Given {
  readonly repo?: Settings;
  readonly pull?: Kind;
  readonly scheduler?: string;
  /** The forge writes the entry of a push so much later. @default 0 */
  readonly entryMs?: number;
  readonly hook?: Hook;
}

async function given({ repo = {}, pull = {}, scheduler = 'lead', entryMs = 0, hook }: Given) {
  const stage = await setStage({
    repo,
    delays: { pushEntryMs: entryMs },
    ...(hook === undefined ? {} : { wrapForge: wrapForge(hook) }),
  });
  await givenProject(stage.forge);
  await stage.forge.setAccess('guest', 'read');
  const pr = await stage.forge.openPullRequest({ branch: 'a', files: { 'src/a.txt': 'a\n' }, ...pull });
  await stage.clock.advance(MINUTE);
  return { stage, pr, schedule: () => stage.forge.scheduleAs(scheduler, pr, 'squash') };
}

async function pushSoon({ forge, clock }: World, pr: number, by?: string): Promise<string> {
  await clock.advance(SOON_MS);
  return forge.pushToPullRequest(pr, { 'src/a.txt': 'never seen\n' }, by);
}

const wordsOn = async ({ forge }: World, sha: string) => (await forge.status(sha, 'mq'))?.description ?? '';
const drain = (stage: World) => stage.drain({ maxMs: 30 * MINUTE });

const RULES = /^requeued: head changed by an account that may not schedule here; let one that may approve/;
const NAMED = { schedulePeople: ['lead', 'second'] };
const BOTS = { bots: ['agent'], botApproval: true };

describe('a push within seconds after its schedule', () => {
  test.each<[string, Given, string, RegExp]>([
    ['an account that the settings do not name', { repo: NAMED }, 'dev', RULES],
    ['the author, where authors do not schedule their own', { repo: { scheduleOwn: false } }, 'dev', RULES],
    ['a bot, where it needs the approval of a person', { repo: BOTS }, 'agent', RULES],
    ['one who may only read', {}, 'guest', /^requeued: head changed by a push that renews no schedule/],
    ['the queue’s own account', {}, 'mq-bot', /^requeued: head changed by a push that renews no schedule/],
  ])(
    'by %s lands nothing, and says so; an approval of this head lets it go on',
    async (_name, each, by, words) => {
      const { stage, pr, schedule } = await given(each);
      await schedule();
      const head = await pushSoon(stage, pr, by);
      await drain(stage);
      expect([landedOf(stage), stage.forge.runs()]).toEqual([[], []]);
      expect(await wordsOn(stage, head)).toMatch(words);
      await stage.forge.review(pr, 'second', 'approve');
      await drain(stage);
      expect(landedOf(stage)).toEqual([pr]);
    },
  );

  test('where it lands nothing, cancelling and scheduling again does, as the words say', async () => {
    const { stage, pr, schedule } = await given({ repo: NAMED });
    await schedule();
    await pushSoon(stage, pr, 'dev');
    await drain(stage);
    await stage.forge.cancelSchedule(pr);
    await stage.clock.advance(MINUTE);
    await schedule();
    await drain(stage);
    expect(landedOf(stage)).toEqual([pr]);
  });

  test('by one that a list of the rule does not name among those who may merge lands nothing', async () => {
    const hook: Hook = async (name, _args, answer) => {
      if (name !== 'readProtection') return answer();
      return { ...((await answer()) as object), mergeList: ['lead'] };
    };
    const { stage, pr, schedule } = await given({ hook });
    await schedule();
    await pushSoon(stage, pr, 'dev');
    await drain(stage);
    expect(landedOf(stage)).toEqual([]);
  });

  test.each([
    ['is not in it', ['lead'], false, false],
    ['is in it', ['lead', 'dev'], false, true],
    ['may be in it, which the bot may not see', ['lead', 'dev'], true, false],
  ] as const)(
    'where only a team may merge, the push of one who %s stands for itself accordingly',
    async (_who, members, hidden, lands) => {
      const { stage, pr } = await given({});
      await stage.forge.lendByTeam({ name: 'leads', members, code: 'write', hidden });
      await stage.forge.setProtection({ mergeList: [], mergeTeams: ['leads'] });
      await stage.forge.scheduleAs('lead', pr, 'squash');
      await stage.clock.advance(MINUTE);
      await stage.forge.pushToPullRequest(pr, { 'src/unseen.txt': 'x\n' }, 'dev');
      await drain(stage);
      expect(landedOf(stage)).toEqual(lands ? [pr] : []);
    },
  );

  test.each([['fork'], ['agit']] as const)(
    'by the author of a head from outside (%s) lands only what was approved since',
    async (kind) => {
      const { stage, pr, schedule } = await given({
        pull: { [kind]: true, author: 'outsider' },
        scheduler: 'outsider',
      });
      await stage.forge.review(pr, 'reviewer', 'approve');
      const approved = (await stage.forge.pull(pr)).headSha;
      await stage.forge.pushToPullRequest(pr, { 'src/a.txt': 'other\n' });
      await stage.clock.advance(MINUTE);
      await schedule();
      await stage.clock.advance(SOON_MS);
      // Back to the head that was approved, and is not the one that was scheduled.
      await stage.forge.forcePushPullRequest(pr, approved);
      await drain(stage);
      expect(landedOf(stage)).toEqual([]);
      expect(await wordsOn(stage, approved)).toMatch(/^requeued: head changed from outside the repository/);
      await stage.forge.review(pr, 'reviewer', 'approve');
      await drain(stage);
      expect(landedOf(stage)).toEqual([pr]);
    },
  );

  test('that the queue does not see before its gate run has passed lands nothing', async () => {
    const { stage, pr, schedule } = await given({ entryMs: 8_000 });
    stage.forge.gateDurationMs = 500;
    await schedule();
    await stage.clock.advance(1_000);
    await stage.forge.pushToPullRequest(pr, { 'src/a.txt': 'never seen\n' }, 'guest');
    await drain(stage);
    expect(landedOf(stage)).toEqual([]);
  });
});

describe('a push right before its schedule, of which the forge writes later', () => {
  const entryMs = 6_000;

  test.each<[string, Settings, string]>([
    ['no rules', {}, 'dev'],
    ['named people', NAMED, 'second'],
    ['no own schedules', { scheduleOwn: false }, 'second'],
    ['approvals for bots', BOTS, 'dev'],
  ])('lands with %s, in one try, where its account may schedule', async (_name, repo, by) => {
    const { stage, pr, schedule } = await given({ repo: { ...repo, headAttemptsMax: 1 }, entryMs });
    const head = await stage.forge.pushToPullRequest(pr, { 'src/a.txt': 'newer\n' }, by);
    await stage.clock.advance(1_000);
    await schedule();
    await stage.reconcile();
    await drain(stage);
    expect(landedOf(stage)).toEqual([pr]);
    expect(stage.forge.runs()).toHaveLength(1);
    expect(await told(stage, pr)).toEqual(['pr_landed:null', 'pr_staged:null', 'pr_queued:null']);
    expect((await stage.forge.statusHistory(head)).some(({ state }) => state === 'error')).toBe(false);
  });

  test('of a head from outside that was approved in between lands', async () => {
    const { stage, pr, schedule } = await given({
      pull: { fork: true, author: 'outsider' },
      scheduler: 'outsider',
      entryMs,
    });
    await stage.forge.pushToPullRequest(pr, { 'src/a.txt': 'newer\n' });
    await stage.clock.advance(1_000);
    await stage.forge.review(pr, 'reviewer', 'approve');
    await schedule();
    await drain(stage);
    expect(landedOf(stage)).toEqual([pr]);
  });

  test('takes nothing back while the forge does not answer about its account', async () => {
    let isFailing = false;
    const hook: Hook = async (name, _args, answer) => {
      if (isFailing && name === 'readWriteRight') throw new ForgeError('unreachable', name, 500);
      return answer();
    };
    const { stage, pr, schedule } = await given({ entryMs, hook });
    stage.forge.judge = () => 'hold';
    await stage.forge.pushToPullRequest(pr, { 'src/a.txt': 'newer\n' }, 'second');
    await stage.clock.advance(1_000);
    await schedule();
    await stage.reconcile();
    isFailing = true;
    await stage.clock.advance(MINUTE);
    await stage.reconcile();
    expect((await stage.record()).entries).toMatchObject([{ pr, movedAt: null }]);
    isFailing = false;
    stage.forge.judge = () => 'success';
    for (const run of stage.forge.runs())
      if (run.state === 'running') await stage.forge.finishRun(run.id, 'success');
    await drain(stage);
    expect([landedOf(stage), stage.forge.runs().length]).toEqual([[pr], 1]);
  });
});
