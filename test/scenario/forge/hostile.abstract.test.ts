import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import { ForgeError } from '#core/ports/forge.ts';
import {
  endingOf,
  expectHonestEnd,
  givenProject,
  givenScheduled,
  judgeByContent,
  unprovenLandings,
} from '../stories.ts';
import { createWorld, type World } from '../world.ts';

interface Asked {
  readonly method: string;
  readonly path: string;
}
/** An archived repository takes statuses all the same. */
const takesContents = ({ method, path }: Asked) => method !== 'GET' && !path.includes('/statuses/');
const LOCKED =
  '{"message":"This account is prohibited from signing in, please contact your site administrator."}';
const isOfPulls = ({ path }: Asked) => path.includes('/pulls');

describe('an API-only engine detects the attacks that it cannot prevent', () => {
  test('the forge merges onto a foreign push: tree mismatch, the queue stops, switching on again goes on', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    const prs = [await givenScheduled(world.forge, 'a'), await givenScheduled(world.forge, 'b')];
    let drop = 2;
    world.forge.mergeBehaviour = () => (drop-- > 0 ? { kind: 'lost' } : { kind: 'now' });
    const head = (await world.forge.pull(prs[0] ?? 0)).headSha;
    await world.drain({ until: async () => (await world.forge.status(head, 'mq'))?.state === 'success' });
    await world.forge.pushToBase({ 'pushed.txt': 'pushed\n' });
    await world.clock.advance(60_000);
    await world.drain();
    expect(await unprovenLandings(world.forge)).toEqual([prs[0]]);
    const { halted } = await world.record();
    expect(halted).toMatchObject({ reason: 'tree_mismatch', pr: prs[0] });
    expect((await world.forge.status(head, 'mq'))?.description).toBe(PULL_CODES.unverified.says);
    // The stop shows what was found, what was proven, and on what.
    const [merge] = world.forge.merges();
    expect(halted?.evidence).toMatchObject({ mergeCommit: merge?.mergeCommit, landedTree: merge?.tree });
    expect(halted?.evidence?.provenTree).not.toBe(merge?.tree);
    expect(halted?.evidence?.baseBefore).not.toBe(merge?.firstParent);
    expect((await world.reconcile())?.errorCode).toBe('tree_mismatch');
    expect(world.log.some((line) => line.fields.alarm === 'tree_mismatch')).toBe(true);
    expect((await endingOf(world, prs)).landed).toEqual([prs[0]]);
    await world.settings({ enabledAt: world.clock.now() + 1 });
    await world.drain();
    expect((await endingOf(world, prs)).landed).toEqual(prs);
  });

  test('another account writes success under our context: the merge that follows is listed as unverified (A7, A39)', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    const pr = await givenScheduled(world.forge, 'bad', 'BAD\n');
    world.forge.judge = () => 'hold';
    await world.reconcile();
    await world.forge.postStatusAs('mallory', (await world.forge.pull(pr)).headSha, 'mq', 'success');
    await world.clock.advance(60_000);
    await world.drain({ maxMs: 30 * 60_000 });
    expect(
      world.log.some((line) => line.fields.alarm === 'unverified_landing' && line.fields.pr === pr),
    ).toBe(true);
  });

  test('a pull request merges that the queue never had in its line: the moved base is alarmed (A39)', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    const unseen = await world.forge.openPullRequest({ branch: 'unseen', files: { 'unseen.txt': 'x\n' } });
    await givenScheduled(world.forge, 'refused');
    world.forge.judge = () => 'never';
    await world.reconcile();
    await world.forge.mergeByHand(unseen);
    await world.clock.advance(60_000);
    await world.drain({ maxMs: 30 * 60_000 });
    const alarms = world.log.filter((line) => line.fields.alarm === 'unverified_landing');
    expect(alarms.map((line) => line.fields.pr)).toEqual([null]);
  });

  test('so it is while the queue has nothing to do', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    await givenScheduled(world.forge, 'a');
    await world.drain();
    const unseen = await world.forge.openPullRequest({ branch: 'unseen', files: { 'unseen.txt': 'x\n' } });
    await world.drain();
    await world.forge.mergeByHand(unseen);
    await world.clock.advance(60_000);
    await world.drain({ maxMs: 30 * 60_000 });
    const alarms = world.log.filter((line) => line.fields.alarm === 'unverified_landing');
    expect(alarms.map((line) => line.fields.pr)).toEqual([null]);
  });

  test('our own landings, in one batch and in the next, raise no alarm', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    for (const name of ['a', 'b', 'c']) await givenScheduled(world.forge, name);
    await world.drain();
    await givenScheduled(world.forge, 'd');
    await world.drain();
    expect(world.forge.merges()).toHaveLength(4);
    expect(world.log.filter((line) => line.fields.alarm !== undefined)).toEqual([]);
  });

  test('a lost record changes no safety result: a stale success is taken back, a bounce is remembered', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    const bad = await givenScheduled(world.forge, 'bad', 'BAD\n');
    await world.drain();
    const runs = world.forge.runs().length;
    const stale = await givenScheduled(world.forge, 'stale');
    world.forge.mergeBehaviour = () => ({ kind: 'lost' });
    await world.forge.postStatusAs('mq-bot', (await world.forge.pull(stale)).headSha, 'mq', 'success');
    await world.loseRecord();
    world.forge.judge = () => 'hold';
    await world.reconcile();
    const status = await world.forge.status((await world.forge.pull(stale)).headSha, 'mq');
    expect(status).toMatchObject({ state: 'pending', description: expect.stringMatching(/^staged/) });
    expect((await endingOf(world, [bad])).bounced).toEqual([bad]);
    expect(world.forge.runs().length - runs).toBeLessThanOrEqual(1);
  });

  test.each([
    [
      'pushed over',
      (world: World, pr: number) => world.forge.pushToPullRequest(pr, { 'src/a.txt': 'new\n' }),
    ],
    ['closed', (world: World, pr: number) => world.forge.close(pr)],
  ])(
    'a success on a head that is %s when the record is lost is taken back all the same (A24, A32)',
    async (_name, change) => {
      const world = await createWorld();
      await givenProject(world.forge);
      world.forge.mergeBehaviour = () => ({ kind: 'lost' });
      const pr = await givenScheduled(world.forge, 'a');
      const { headSha } = await world.forge.pull(pr);
      const word = async () => (await world.forge.status(headSha, 'mq'))?.state;
      await world.drain({ until: async () => (await word()) === 'success' });
      await world.clock.advance(70_000);
      await world.loseRecord();
      await change(world, pr);
      await world.reconcile();
      expect(await word()).toBe('error');
    },
  );

  test('a success whose landing no open row tells of is taken back when the record is lost after the merge (A24, A32)', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    world.forge.mergeBehaviour = () => ({ kind: 'slow', ms: 30_000 });
    const { headSha } = await world.forge.pull(await givenScheduled(world.forge, 'a'));
    const word = async () => (await world.forge.status(headSha, 'mq'))?.state;
    await world.drain({ until: async () => (await word()) === 'success' });
    await world.clock.advance(70_000);
    await world.loseRecord();
    // Its gate run was known to fail with another one, so that its row is resolved while it lands by what passed before.
    world.store.listOwnBatches = async () => [];
    await world.reconcile();
    expect(await word()).toBe('pending');
  });

  test.each([
    ['its text is damaged', (world: World) => world.store.corrupt('queue', 'repo-1')],
    [
      'its form is none of this version',
      ({ store }: World) => {
        const { loadQueueRecord } = store;
        store.loadQueueRecord = async (id) => {
          store.loadQueueRecord = loadQueueRecord;
          const stored = await store.loadQueueRecord(id);
          return stored === null ? null : { ...stored, document: { entries: 'none' } };
        };
      },
    ],
  ])(
    'an unreadable record (%s): the reconcile ends with its code, nothing lands, the next one rebuilds',
    async (_name, damage) => {
      const world = await createWorld();
      await givenProject(world.forge);
      const prs = [await givenScheduled(world.forge, 'a'), await givenScheduled(world.forge, 'b')];
      world.forge.judge = () => 'hold';
      await world.reconcile();
      damage(world);
      expect((await world.reconcile())?.errorCode).toBe('engine_error');
      expect(world.forge.merges()).toEqual([]);
      world.forge.judge = () => 'success';
      await world.clock.advance(60_000);
      await world.drain();
      expect((await endingOf(world, prs)).landed).toEqual(prs);
      await expectHonestEnd(world, prs);
    },
  );

  test.each([
    ['HTML from a proxy', { status: 200, html: true }, 'forge_unreachable'],
    ['a truncated answer', { status: 200, body: '{"number": 1, "sta' }, 'forge_unreachable'],
    ['500 with an empty message', { status: 500, body: '{"message":""}' }, 'forge_unreachable'],
    ['429', { status: 429 }, 'forge_unreachable'],
    ['a page of a firewall', { status: 403, html: true }, 'forge_unreachable'],
    ['a redirect of a proxy', { status: 302, html: true }, 'forge_unreachable'],
    ['a revoked token', { status: 401 }, 'forge_access_denied'],
    ['a token without the scope', { status: 403 }, 'forge_access_denied'],
    ['an archived repository', { status: 423 }, 'forge_access_denied'],
    ['a repository that is unreadable or gone', { status: 404 }, 'forge_access_denied'],
  ] as const)(
    '%s on every call: its error code, nothing lands, nothing is lost',
    async (_name, fault, code) => {
      const world = await createWorld();
      await givenProject(world.forge);
      const prs = [await givenScheduled(world.forge, 'a'), await givenScheduled(world.forge, 'b')];
      world.forge.fault = () => fault;
      expect((await world.reconcile())?.errorCode).toBe(code);
      expect(world.forge.merges()).toEqual([]);
      world.forge.fault = () => null;
      await world.drain();
      expect((await endingOf(world, prs)).landed).toEqual(prs);
      await expectHonestEnd(world, prs);
    },
  );

  test.each([
    ['a revoked token', { status: 401 }, () => true, 'token_unknown'],
    ['a token without the scope', { status: 403 }, () => true, undefined],
    ['an account that is locked', { status: 403, body: LOCKED }, () => true, 'bot_locked'],
    [
      'a repository that is archived while its pull request waits',
      { status: 423 },
      takesContents,
      'archived',
    ],
    ['a quota that is used up', { status: 413 }, takesContents, 'over_quota'],
    ['a repository that is unreadable or gone', { status: 404 }, () => true, 'not_shown'],
    ['a repository whose pull requests are switched off', { status: 404 }, isOfPulls, 'pulls_hidden'],
  ] as const)(
    '%s: the report says why the forge refuses, and nothing once it does not',
    async (_name, fault, isMet, cause) => {
      const world = await createWorld();
      await givenProject(world.forge);
      const prs = [await givenScheduled(world.forge, 'a')];
      world.forge.fault = (call) => (isMet(call) ? fault : null);
      const report = await world.reconcile();
      expect(report).toMatchObject({ errorCode: 'forge_access_denied' });
      expect(report?.refusal).toBe(cause);
      world.forge.fault = () => null;
      await world.drain();
      expect((await world.reconcile())?.refusal).toBeUndefined();
      await expectHonestEnd(world, prs);
    },
  );

  test('429 with Retry-After: one call, then none before that time', async () => {
    let limited = true;
    let asked = 0;
    const world = await createWorld({
      wrapForge: (forge) => ({
        ...forge,
        listOpenPullRequests: async () => {
          asked += 1;
          if (limited) throw new ForgeError('rate_limited', 'GET pulls', 429, 240_000);
          return forge.listOpenPullRequests();
        },
      }),
    });
    await givenProject(world.forge);
    const prs = [await givenScheduled(world.forge, 'a')];
    const at = world.clock.now();
    const report = await world.reconcile();
    expect(report).toMatchObject({ errorCode: 'forge_unreachable' });
    expect(report?.wakeAt).toBeGreaterThanOrEqual(at + 240_000);
    expect(asked).toBe(1);
    limited = false;
    await world.drain();
    expect((await endingOf(world, prs)).landed).toEqual(prs);
  });

  test('a patch that the forge turns into another tree sets that pull request aside alone', async () => {
    const world = await createWorld({
      wrapForge: (forge) => ({
        ...forge,
        applyPatch: async (request) => {
          const commit = await forge.applyPatch(request);
          const wrong = request.message.includes('pull request 2');
          return wrong ? { ...commit, tree: 'f'.repeat(40) } : commit;
        },
      }),
    });
    await givenProject(world.forge);
    const prs: number[] = [];
    for (const name of ['a', 'b', 'c']) prs.push(await givenScheduled(world.forge, name));
    await world.drain();
    expect((await endingOf(world, prs)).landed).toEqual([prs[0], prs[2]]);
    const head = (await world.forge.pull(prs[1] ?? 0)).headSha;
    expect((await world.forge.status(head, 'mq'))?.description).toMatch(/^refused: git can merge/);
    await expectHonestEnd(world, prs);
  });

  test('an idle repo: 100 reconciles write nothing to forge or record and make at most 4 calls each', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    for (let index = 0; index < 5; index += 1) {
      await world.forge.openPullRequest({ branch: `idle-${index}`, files: { [`i${index}.txt`]: 'x\n' } });
    }
    // Seen once, and once more when their time stamps can no longer hide a change.
    for (let look = 0; look < 2; look += 1) {
      await world.clock.advance(60_000);
      await world.reconcile();
    }
    world.forge.clearCalls();
    const version = (await world.store.loadQueueRecord('repo-1'))?.version;
    for (let round = 0; round < 100; round += 1) {
      await world.clock.advance(300_000);
      await world.reconcile();
    }
    const calls = world.forge.calls();
    expect(calls.filter((call) => call.write)).toEqual([]);
    expect(calls.length).toBeLessThanOrEqual(400);
    expect((await world.store.loadQueueRecord('repo-1'))?.version).toBe(version);
  });
});

describe('a success that another account wrote under our context (A7, A24)', () => {
  test('is written over within a few ticks on every open pull request, and what the queue had said is said again', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    await world.forge.setProtection({ requiredApprovals: 1 });
    const prs = [await givenScheduled(world.forge, 'a'), await givenScheduled(world.forge, 'b')];
    for (const name of ['c', 'd', 'e'])
      prs.push(await world.forge.openPullRequest({ branch: name, files: { [`src/${name}.txt`]: 'x\n' } }));
    await world.drain();
    const heads = await Promise.all(prs.map(async (pr) => (await world.forge.pull(pr)).headSha));
    for (const head of heads) await world.forge.postStatusAs('mallory', head, 'mq', 'success');
    for (let tick = 0; tick < 3; tick += 1) {
      await world.clock.advance(300_000);
      await world.reconcile();
    }
    const said = await Promise.all(heads.map((head) => world.forge.status(head, 'mq')));
    expect(said.map((status) => status?.state)).toEqual(heads.map(() => 'error'));
    expect(said.slice(0, 2).map((status) => status?.description)).toEqual([
      expect.stringMatching(/^refused: required approvals/),
      expect.stringMatching(/^refused: required approvals/),
    ]);
    expect(world.log.filter(({ fields }) => fields.alarm === 'foreign_status_writer')).toHaveLength(5);
  });

  test('does not hide a bounce', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    world.forge.judge = judgeByContent;
    const pr = await givenScheduled(world.forge, 'a', 'BAD\n');
    await world.drain();
    const { headSha } = await world.forge.pull(pr);
    // Without another rule the forge would merge at once.
    await world.forge.setProtection({ requiredApprovals: 1 });
    await world.forge.postStatusAs('mallory', headSha, 'mq', 'success');
    await world.clock.advance(300_000);
    await world.reconcile();
    expect((await world.forge.status(headSha, 'mq'))?.description).toMatch(/^bounced:/);
  });

  test('a refusal that was written over while the pull request was not scheduled still says why', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    await givenScheduled(world.forge, 'first');
    await world.drain();
    const pr = await world.forge.openPullRequest({ branch: 'again', files: { 'src/first.txt': 'first\n' } });
    await world.forge.schedule(pr);
    await world.drain();
    const { headSha } = await world.forge.pull(pr);
    const words = (await world.forge.status(headSha, 'mq'))?.description;
    expect(words).toMatch(/^refused: /);
    await world.forge.cancelSchedule(pr);
    await world.reconcile();
    await world.forge.setProtection({ requiredApprovals: 1 });
    await world.forge.postStatusAs('mallory', headSha, 'mq', 'success');
    for (let look = 0; look < 8; look += 1) {
      await world.clock.advance(300_000);
      await world.reconcile();
    }
    expect(await world.forge.status(headSha, 'mq')).toMatchObject({ state: 'error', description: words });
  });
});

describe('acts of people on pull requests that have left the queue', () => {
  test('one that is retargeted and merges elsewhere has left the queue: no alarm of an unverified landing', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    world.forge.judge = () => 'hold';
    const pr = await givenScheduled(world.forge, 'a');
    await world.forge.pushBranch('other', await world.forge.tip(world.forge.base));
    await world.reconcile();
    await world.forge.retarget(pr, 'other');
    await world.forge.mergeByHand(pr);
    await world.clock.advance(60_000);
    await world.reconcile();
    expect(world.log.filter((line) => line.fields.alarm === 'unverified_landing')).toEqual([]);
    expect((await world.events()).some((event) => event.pr === pr && event.reason === 'retargeted')).toBe(
      true,
    );
  });

  test.each([
    ['as it was proven', false],
    ['with a newer head', true],
  ])(
    'one that is retargeted after its success and merges elsewhere %s is no landing: the queue goes on',
    async (_, isPushed) => {
      const world = await createWorld();
      await givenProject(world.forge);
      await world.forge.pushBranch('other', await world.forge.tip(world.forge.base));
      const [a = 0, b = 0] = [await givenScheduled(world.forge, 'a'), await givenScheduled(world.forge, 'b')];
      const { headSha } = await world.forge.pull(a);
      world.forge.mergeBehaviour = (pr) => (pr === a ? { kind: 'lost' } : { kind: 'now' });
      await world.drain({
        until: async () => (await world.forge.status(headSha, 'mq'))?.state === 'success',
      });
      if (isPushed) await world.forge.pushToPullRequest(a, { 'src/a.txt': 'newer\n' });
      await world.forge.retarget(a, 'other');
      await world.forge.mergeByHand(a);
      await world.drain();
      expect(world.log.filter((line) => line.fields.alarm !== undefined)).toEqual([]);
      expect((await endingOf(world, [b])).landed).toEqual([b]);
      expect((await world.forge.status(headSha, 'mq'))?.state).not.toBe('success');
      expect((await world.events()).some((event) => event.pr === a && event.reason === 'retargeted')).toBe(
        true,
      );
    },
  );

  test('a bounced one keeps its bounce on its head, whatever reviews come afterwards', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    await world.forge.setProtection({ blockOnRejectedReviews: true });
    const pr = await givenScheduled(world.forge, 'bad', 'BAD\n');
    await world.drain();
    await world.forge.review(pr, 'reviewer', 'reject');
    await world.clock.advance(60_000);
    await world.drain();
    const { headSha } = await world.forge.pull(pr);
    expect((await world.forge.status(headSha, 'mq'))?.description).toMatch(/^bounced:/);
    expect((await endingOf(world, [pr])).bounced).toEqual([pr]);
  });
});

describe('one pull request whose readings fail, in a queue that is new or has lost its record', () => {
  async function createHalfBlind(isUnreadable: (pr: number) => boolean): Promise<World> {
    const world = await createWorld({
      wrapForge: (forge) => ({
        ...forge,
        readTimeline: async (pr) => {
          if (isUnreadable(pr)) throw new ForgeError('unreachable', 'GET issues/{n}/timeline', 500);
          return forge.readTimeline(pr);
        },
      }),
    });
    await givenProject(world.forge);
    return world;
  }

  test('waits alone, the others land, and it lands once it can be read', async () => {
    let blind = 0;
    const world = await createHalfBlind((pr) => pr === blind);
    const first = await givenScheduled(world.forge, 'a');
    blind = await givenScheduled(world.forge, 'blind');
    const last = await givenScheduled(world.forge, 'c');
    await world.drain({ maxMs: 20 * 60_000 });
    expect((await endingOf(world, [first, blind, last])).landed).toEqual([first, last]);
    const unreadable = blind;
    blind = 0;
    await world.drain({ maxMs: 20 * 60_000 });
    expect((await endingOf(world, [unreadable])).landed).toContain(unreadable);
    await expectHonestEnd(world, [first, unreadable, last]);
  });

  test('keeps its bounce, and a success on it is taken back as soon as it is read', async () => {
    let blind = 0;
    const world = await createHalfBlind((pr) => pr === blind);
    const bad = await givenScheduled(world.forge, 'bad', 'BAD\n');
    await world.drain();
    const stale = await givenScheduled(world.forge, 'stale');
    world.forge.mergeBehaviour = () => ({ kind: 'lost' });
    const { headSha } = await world.forge.pull(stale);
    await world.forge.postStatusAs('mq-bot', headSha, 'mq', 'success');
    await world.loseRecord();
    blind = bad;
    const runs = world.forge.runs().length;
    world.forge.judge = () => 'hold';
    await world.reconcile();
    expect(world.forge.runs().length - runs).toBeLessThanOrEqual(1);
    expect((await world.forge.status(headSha, 'mq'))?.state).not.toBe('success');
    blind = stale;
    await world.loseRecord();
    await world.forge.postStatusAs('mq-bot', headSha, 'mq', 'success');
    await world.clock.advance(60_000);
    await world.reconcile();
    blind = 0;
    await world.clock.advance(60_000);
    await world.reconcile();
    expect(await world.forge.status(headSha, 'mq')).toMatchObject({
      state: 'pending',
      description: expect.stringMatching(/^staged/),
    });
    expect((await endingOf(world, [bad])).bounced).toEqual([bad]);
    expect((await world.record()).bounced.map(({ pr }) => pr)).toEqual([bad]);
  });
});
