import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import { ForgeError } from '#core/ports/forge.ts';
import { type Hook, headOf, landedOf, told, wrapForge } from '../hooks.ts';
import { givenProject, givenScheduled } from '../stories.ts';
import { createWorld } from '../world.ts';

/** Rules of a repository about who may schedule, and how much (decisions 0225, 0226). */
const HOUR = 3_600_000;

async function given(repo: Readonly<Record<string, unknown>>) {
  const world = await createWorld({ repo });
  await givenProject(world.forge);
  return world;
}
type World = Awaited<ReturnType<typeof given>>;

async function open(world: World, name: string, author = 'dev', content = `${name}\n`): Promise<number> {
  return world.forge.openPullRequest({ branch: name, author, files: { [`src/${name}.txt`]: content } });
}

async function wordsOn(world: World, pr: number): Promise<string | undefined> {
  return (await world.forge.status(await headOf(world, pr), 'mq'))?.description;
}

test('only accounts that the settings name may schedule, and the pull request of another says so', async () => {
  const world = await given({ schedulePeople: ['Lead'] });
  const [named, other] = [await open(world, 'a'), await open(world, 'b')];
  await world.forge.scheduleAs('lead', named);
  await world.forge.scheduleAs('dev', other);
  await world.drain({ maxMs: HOUR });
  expect(landedOf(world)).toEqual([named]);
  expect(await wordsOn(world, other)).toMatch(/^refused: the settings of this queue list who may schedule/);
  expect(await told(world, other)).toContain('pr_refused:scheduler_not_named');
  await world.forge.cancelSchedule(other);
  await world.clock.advance(60_000);
  await world.forge.scheduleAs('lead', other);
  await world.drain({ maxMs: HOUR });
  expect(landedOf(world)).toEqual([named, other]);
});

test.each(['forgejo-actions', 'gitea-actions'])(
  'the token of a job, as %s, schedules what never merges: no gate run is spent on it, and a person may schedule it',
  async (account) => {
    const world = await given({ bots: [account], botApproval: true });
    const pr = await open(world, 'a');
    await world.forge.scheduleAs(account, pr);
    await world.drain({ maxMs: HOUR });
    expect(await told(world, pr)).toContain('pr_refused:scheduled_by_job');
    expect(await wordsOn(world, pr)).toBe(PULL_CODES.scheduled_by_job.says);
    expect(world.forge.runs()).toEqual([]);
    await world.forge.cancelSchedule(pr);
    await world.clock.advance(60_000);
    await world.forge.scheduleAs('lead', pr);
    await world.drain({ maxMs: HOUR });
    expect(landedOf(world)).toEqual([pr]);
  },
);

describe('teams among those who may schedule', () => {
  test('a member may, one who is in none may not; a team that the forge does not have names no account', async () => {
    const world = await given({ scheduleTeams: ['Release', 'gone'], schedulePeople: ['lead'] });
    await world.forge.setTeam('release', ['Ann']);
    const [byMember, byNamed, byOther] = [
      await open(world, 'a'),
      await open(world, 'b'),
      await open(world, 'c'),
    ];
    await world.forge.scheduleAs('ann', byMember);
    await world.forge.scheduleAs('lead', byNamed);
    await world.forge.scheduleAs('dev', byOther);
    await world.drain({ maxMs: HOUR });
    expect(landedOf(world)).toEqual([byMember, byNamed]);
    expect(await told(world, byOther)).toContain('pr_refused:scheduler_not_named');
    await world.forge.setTeam('release', ['ann', 'dev']);
    await world.drain({ maxMs: HOUR });
    expect(landedOf(world)).toEqual([byMember, byNamed, byOther]);
  });

  test('where the queue may not see who is in them, the pull request says what to do, and one in a team it sees may', async () => {
    const world = await given({ scheduleTeams: ['hidden', 'seen'] });
    await world.forge.setTeam('hidden', null);
    await world.forge.setTeam('seen', ['ann']);
    const [byMember, byOther] = [await open(world, 'a'), await open(world, 'b')];
    await world.forge.scheduleAs('ann', byMember);
    await world.forge.scheduleAs('dev', byOther);
    await world.drain({ maxMs: HOUR });
    expect(landedOf(world)).toEqual([byMember]);
    expect(await wordsOn(world, byOther)).toMatch(/^refused: the queue cannot see who is in the teams/);
    expect(await told(world, byOther)).toContain('pr_refused:team_hidden');
  });

  test('while the forge does not answer about them, no account is taken for a member', async () => {
    let isFailing = true;
    const fail: Hook = async (name, _args, answer) => {
      if (isFailing && name === 'listTeamMembers') throw new ForgeError('unreachable', name, 500);
      return answer();
    };
    const world = await createWorld({ repo: { scheduleTeams: ['release'] }, wrapForge: wrapForge(fail) });
    await givenProject(world.forge);
    await world.forge.setTeam('release', ['ann']);
    const pr = await open(world, 'a');
    await world.forge.scheduleAs('ann', pr);
    await world.drain({ maxMs: HOUR });
    expect([landedOf(world), world.forge.runs()]).toEqual([[], []]);
    isFailing = false;
    await world.drain({ maxMs: HOUR });
    expect(landedOf(world)).toEqual([pr]);
  });

  test('a push by a member renews a schedule, and that of another renews none', async () => {
    const world = await given({ scheduleTeams: ['release'] });
    await world.forge.setTeam('release', ['ann', 'lead']);
    world.forge.judge = () => 'hold';
    const [byMember, byOther] = [await open(world, 'a'), await open(world, 'b')];
    for (const pr of [byMember, byOther]) await world.forge.scheduleAs('lead', pr);
    await world.reconcile();
    await world.clock.advance(60_000);
    await world.forge.pushToPullRequest(byMember, { 'src/a.txt': 'newer\n' }, 'ann');
    await world.forge.pushToPullRequest(byOther, { 'src/b.txt': 'newer\n' }, 'bob');
    world.forge.judge = () => 'success';
    await world.clock.advance(60_000);
    await world.drain({ maxMs: HOUR });
    expect(landedOf(world)).toEqual([byMember]);
    expect(await wordsOn(world, byOther)).toMatch(
      /^requeued: head changed by an account that may not schedule/,
    );
  });
});

test('where the settings say so, an author does not schedule a pull request of their own', async () => {
  const world = await given({ scheduleOwn: false });
  const [own, others] = [await open(world, 'a', 'Ann'), await open(world, 'b', 'Ann')];
  await world.forge.scheduleAs('ann', own);
  await world.forge.scheduleAs('bob', others);
  await world.drain({ maxMs: HOUR });
  expect(landedOf(world)).toEqual([others]);
  expect(await told(world, own)).toContain('pr_refused:own_schedule');
});

describe('a schedule that replaces an admitted one while that is tested is admitted anew before it lands', () => {
  /** One that `lead` scheduled is tested; then its author schedules it anew, and the test passes while these calls fail. */
  async function givenReplaced(
    repo: Readonly<Record<string, unknown>>,
    by: string,
    isFailing: (name: string) => boolean,
  ) {
    let isReplaced = false;
    const fail: Hook = async (name, _args, answer) => {
      if (isReplaced && isFailing(name)) throw new ForgeError('unreachable', name, 500);
      return answer();
    };
    const world = await createWorld({ repo, wrapForge: wrapForge(fail) });
    await givenProject(world.forge);
    await world.forge.setTeam('release', ['lead', 'second']);
    world.forge.judge = () => 'hold';
    const pr = await open(world, 'a');
    await world.forge.scheduleAs('lead', pr);
    await world.clock.advance(60_000);
    await world.drain({ until: () => world.forge.runs().length > 0 });
    await world.clock.advance(60_000);
    await world.forge.scheduleAs(by, pr);
    isReplaced = true;
    for (const run of world.forge.runs()) await world.forge.finishRun(run.id, 'success');
    world.forge.judge = () => 'success';
    return { world, pr };
  }

  test('where its timeline could not be read with the list, and could a moment later', async () => {
    let reads = 0;
    const { world, pr } = await givenReplaced({ scheduleOwn: false }, 'dev', (name) => {
      if (name === 'readTimeline') reads += 1;
      return name === 'readTimeline' && reads === 1;
    });
    await world.drain({ maxMs: HOUR });
    expect(reads).toBeGreaterThan(1);
    expect(landedOf(world)).toEqual([]);
    expect(await told(world, pr)).toContain('pr_refused:own_schedule');
  });

  test('where it cannot be known whether the account may schedule', async () => {
    let isDown = true;
    const { world, pr } = await givenReplaced(
      { scheduleTeams: ['release'] },
      'dev',
      (name) => isDown && name === 'listTeamMembers',
    );
    await world.drain({ maxMs: HOUR });
    expect(landedOf(world)).toEqual([]);
    isDown = false;
    await world.drain({ maxMs: HOUR });
    expect(landedOf(world)).toEqual([]);
    expect(await told(world, pr)).toContain('pr_refused:scheduler_not_named');
  });

  test('and one that the rules allow lands with the gate run that it has', async () => {
    const left = { readTimeline: 2, listTeamMembers: 2 };
    const { world, pr } = await givenReplaced({ scheduleTeams: ['release'] }, 'second', (name) => {
      if (name !== 'readTimeline' && name !== 'listTeamMembers') return false;
      left[name] -= 1;
      return left[name] >= 0;
    });
    await world.drain({ maxMs: HOUR });
    expect(landedOf(world)).toEqual([pr]);
    expect(world.forge.runs()).toHaveLength(1);
  });
});

test('a schedule by a bot needs the approval of a person on exactly that head, and that of a bot is none', async () => {
  const world = await given({ bots: ['agent', 'checker'], botApproval: true });
  const [byBot, byPerson] = [await open(world, 'a'), await open(world, 'b')];
  await world.forge.scheduleAs('agent', byBot);
  await world.forge.scheduleAs('dev', byPerson);
  await world.drain({ maxMs: HOUR });
  expect(landedOf(world)).toEqual([byPerson]);
  expect(await told(world, byBot)).toContain('pr_refused:bot_not_approved');
  await world.forge.setAccess('guest', 'read');
  await world.forge.review(byBot, 'guest', 'approve');
  await world.forge.review(byBot, 'checker', 'approve');
  await world.drain({ maxMs: HOUR });
  expect(landedOf(world)).toEqual([byPerson]);
  await world.forge.review(byBot, 'reviewer', 'approve');
  await world.drain({ maxMs: HOUR });
  expect(landedOf(world)).toEqual([byBot, byPerson]);
});

test('an approval of an earlier head is none of the one that a bot schedules', async () => {
  const world = await given({ bots: ['agent'], botApproval: true });
  const pr = await open(world, 'a');
  await world.forge.review(pr, 'reviewer', 'approve');
  await world.clock.advance(60_000);
  await world.forge.pushToPullRequest(pr, { 'src/a.txt': 'never seen\n' });
  await world.clock.advance(60_000);
  await world.forge.scheduleAs('agent', pr);
  await world.drain({ maxMs: HOUR });
  expect(landedOf(world)).toEqual([]);
  expect(await told(world, pr)).toContain('pr_refused:bot_not_approved');
  await world.forge.review(pr, 'reviewer', 'approve');
  await world.drain({ maxMs: HOUR });
  expect(landedOf(world)).toEqual([pr]);
});

test('an approval that is deleted while its head is tested, which leaves no trace, counts no more when it would land', async () => {
  const world = await given({ bots: ['agent'], botApproval: true });
  world.forge.judge = () => 'hold';
  const pr = await open(world, 'a');
  await world.forge.scheduleAs('agent', pr);
  await world.forge.review(pr, 'reviewer', 'approve');
  await world.clock.advance(60_000);
  await world.drain({ until: () => world.forge.runs().length > 0 });
  await world.clock.advance(60_000);
  await world.reconcile();
  await world.forge.deleteReviews(pr);
  for (const run of world.forge.runs()) await world.forge.finishRun(run.id, 'success');
  world.forge.judge = () => 'success';
  await world.drain({ maxMs: HOUR });
  expect(landedOf(world)).toEqual([]);
  expect(await told(world, pr)).toContain('pr_refused:bot_not_approved');
  expect(world.forge.runs()).toHaveLength(1);
  await world.forge.review(pr, 'reviewer', 'approve');
  await world.drain({ maxMs: HOUR });
  expect(landedOf(world)).toEqual([pr]);
});

describe('a push under a schedule is held to the rules about who may schedule', () => {
  /** One that `lead` scheduled; then another account pushes to it. */
  async function givenPush(
    repo: Readonly<Record<string, unknown>>,
    by: string,
  ): Promise<{ world: World; pr: number }> {
    const world = await given(repo);
    world.forge.judge = () => 'hold';
    const pr = await open(world, 'a');
    await world.forge.scheduleAs('lead', pr);
    await world.reconcile();
    await world.clock.advance(60_000);
    await world.forge.pushToPullRequest(pr, { 'src/a.txt': 'never seen\n' }, by);
    world.forge.judge = () => 'success';
    await world.clock.advance(60_000);
    await world.drain({ maxMs: HOUR });
    return { world, pr };
  }
  const NAMED = { schedulePeople: ['lead', 'second'] };
  const BOTS = { bots: ['agent', 'checker'], botApproval: true };

  test.each([
    ['one whom the settings do not name', NAMED, 'dev', 'other', 'second'],
    ['the author', { scheduleOwn: false }, 'dev', null, 'reviewer'],
    ['a bot', BOTS, 'agent', 'checker', 'reviewer'],
  ] as const)(
    'that of %s renews nothing, and says so; an approval of this head by one who may schedule does',
    async (_name, repo, by, mayNot, may) => {
      const { world, pr } = await givenPush(repo, by);
      expect(landedOf(world)).toEqual([]);
      expect(await wordsOn(world, pr)).toBe(
        'requeued: head changed by an account that may not schedule here; let one that may approve this head, or cancel and schedule it',
      );
      // The forge takes no approval of the author's own.
      if (mayNot !== null) await world.forge.review(pr, mayNot, 'approve');
      await world.drain({ maxMs: HOUR });
      expect(landedOf(world)).toEqual([]);
      await world.forge.review(pr, may, 'approve');
      await world.drain({ maxMs: HOUR });
      expect(landedOf(world)).toEqual([pr]);
    },
  );

  test('where it renews nothing, cancelling and scheduling again does, as the words say', async () => {
    const { world, pr } = await givenPush(NAMED, 'dev');
    await world.forge.cancelSchedule(pr);
    await world.clock.advance(60_000);
    await world.forge.scheduleAs('second', pr);
    await world.drain({ maxMs: HOUR });
    expect(landedOf(world)).toEqual([pr]);
  });

  test.each([
    [NAMED, 'Second'],
    [{ scheduleOwn: false }, 'second'],
    [BOTS, 'dev'],
  ] as const)('with %j that of %s renews it', async (repo, by) => {
    const { world, pr } = await givenPush(repo, by);
    expect(landedOf(world)).toEqual([pr]);
  });

  test('who scheduled stays under the rules when another who may pushes', async () => {
    const world = await given({ schedulePeople: ['second'] });
    const pr = await open(world, 'a');
    await world.forge.scheduleAs('lead', pr);
    await world.reconcile();
    await world.clock.advance(60_000);
    await world.forge.pushToPullRequest(pr, { 'src/a.txt': 'newer\n' }, 'second');
    await world.drain({ maxMs: HOUR });
    expect(landedOf(world)).toEqual([]);
    expect(await told(world, pr)).toContain('pr_refused:scheduler_not_named');
  });
});

test('an author has at most so many places, and the next pull request enters once one of them has left', async () => {
  const world = await given({ authorQueuedMax: 2, bots: ['agent'], botQueuedMax: 1 });
  world.forge.gateDurationMs = 600_000;
  const dev = [await open(world, 'a'), await open(world, 'b'), await open(world, 'c')];
  const agent = [await open(world, 'd', 'agent'), await open(world, 'e', 'agent')];
  const ann = await open(world, 'f', 'ann');
  for (const pr of [...dev, ...agent, ann]) {
    await world.forge.scheduleAs('dev', pr);
    await world.clock.advance(1_000);
  }
  await world.drain({ until: () => world.forge.runs().length > 0 });
  const members = (await world.record()).batches.flatMap((batch) => batch.members.map(({ pr }) => pr));
  expect(members).toEqual([dev[0], dev[1], agent[0], ann]);
  expect(await wordsOn(world, dev[2] as number)).toMatch(/^waiting: its author has as many pull requests/);
  await world.drain({ maxMs: 2 * HOUR });
  expect(landedOf(world)).toEqual([...dev, ...agent, ann]);
  expect(await told(world, agent[1] as number)).toContain('pr_refused:author_limit');
});

test('a pull request that the rule refuses or that was bounced takes no place of its author', async () => {
  const world = await given({ authorQueuedMax: 1, schedulePeople: ['dev'] });
  const [refused, bad, good] = [
    await open(world, 'a'),
    await open(world, 'b', 'dev', 'BAD\n'),
    await open(world, 'c'),
  ];
  await world.forge.scheduleAs('guest', refused);
  await world.forge.scheduleAs('dev', bad);
  await world.clock.advance(1_000);
  await world.forge.scheduleAs('dev', good);
  await world.drain({ maxMs: HOUR });
  expect(landedOf(world)).toEqual([good]);
});

test('a pull request that is set aside for itself takes no place of its author', async () => {
  const world = await given({ authorQueuedMax: 1 });
  const first = await open(world, 'a');
  await world.forge.scheduleAs('dev', first);
  await world.drain({ maxMs: HOUR });
  const same = await world.forge.openPullRequest({ branch: 'same', files: { 'src/a.txt': 'a\n' } });
  await world.forge.scheduleAs('dev', same);
  await world.drain({ maxMs: HOUR });
  const good = await open(world, 'c');
  await world.forge.scheduleAs('dev', good);
  await world.drain({ maxMs: HOUR });
  expect(landedOf(world)).toEqual([first, good]);
  expect(await wordsOn(world, same)).toBe('refused: changes nothing on top of the base branch');
});

test('one head is staged with as many schedules as the settings allow, then not before it changes', async () => {
  const world = await given({ headAttemptsMax: 2 });
  const pr = await givenScheduled(world.forge, 'a', 'BAD\n');
  for (let time = 0; time < 4; time += 1) {
    await world.drain({ maxMs: HOUR });
    await world.forge.cancelSchedule(pr);
    await world.clock.advance(60_000);
    await world.forge.schedule(pr);
  }
  const runs = world.forge.runs().length;
  await world.drain({ maxMs: HOUR });
  expect(world.forge.runs()).toHaveLength(runs);
  const events = await told(world, pr);
  expect(events.filter((event) => event === 'pr_bounced:gate_failed')).toHaveLength(2);
  expect(events).toContain('pr_refused:attempts_spent');
  await world.forge.pushToPullRequest(pr, { 'src/a.txt': 'good\n' });
  await world.drain({ maxMs: HOUR });
  expect(landedOf(world)).toEqual([pr]);
});

test.each(['readWriteRight', 'readStatuses'])(
  'a head whose attempts are spent is not tried again while another answer is missing: %s',
  async (missing) => {
    let isFailing = false;
    const fail: Hook = async (name, _args, answer) => {
      if (isFailing && name === missing) throw new ForgeError('unreachable', name, 500);
      return answer();
    };
    const world = await createWorld({ repo: { headAttemptsMax: 1 }, wrapForge: wrapForge(fail) });
    await givenProject(world.forge);
    const pr = await givenScheduled(world.forge, 'a', 'BAD\n');
    await world.drain({ maxMs: HOUR });
    const runs = world.forge.runs().length;
    isFailing = true;
    await world.forge.cancelSchedule(pr);
    await world.forge.schedule(pr);
    await world.drain({ maxMs: HOUR / 4 });
    expect([runs > 0, world.forge.runs().length]).toEqual([true, runs]);
  },
);

test('a schedule by another account is not taken for the one that was admitted while an answer is missing', async () => {
  let isFailing = false;
  const fail: Hook = async (name, _args, answer) => {
    if (isFailing && name === 'readStatuses') throw new ForgeError('unreachable', name, 500);
    return answer();
  };
  const repo = { schedulePeople: ['dev'], batchLingerSeconds: 600 };
  const world = await createWorld({ repo, wrapForge: wrapForge(fail) });
  await givenProject(world.forge);
  const pr = await givenScheduled(world.forge, 'a');
  await world.reconcile();
  isFailing = true;
  await world.forge.cancelSchedule(pr);
  await world.forge.scheduleAs('mallory', pr);
  await world.drain({ maxMs: HOUR });
  expect(world.forge.runs()).toEqual([]);
});

test('one that was admitted and cannot be read now is not staged beyond the places of its author', async () => {
  const unread = new Set<number>();
  const fail: Hook = async (name, args, answer) => {
    if (name === 'readTimeline' && unread.has(args[0] as number))
      throw new ForgeError('unreachable', name, 500);
    return answer();
  };
  const repo = { authorQueuedMax: 1, schedulePeople: ['dev'], batchLingerSeconds: 600 };
  const world = await createWorld({ repo, wrapForge: wrapForge(fail) });
  await givenProject(world.forge);
  const first = await givenScheduled(world.forge, 'a');
  await world.clock.advance(1_000);
  const second = await givenScheduled(world.forge, 'b');
  unread.add(first);
  await world.reconcile();
  unread.delete(first);
  unread.add(second);
  await world.clock.advance(5_000);
  await world.forge.setTitle(second, 'Another title');
  await world.drain({ until: () => world.forge.runs().length > 0 });
  const members = (await world.record()).batches.flatMap((batch) => batch.members.map(({ pr }) => pr));
  expect(members).toEqual([first]);
});

test('without rules the queue asks the forge nothing about them and keeps nothing', async () => {
  const asked: string[] = [];
  const watch: Hook = async (name, _args, answer) => {
    asked.push(name);
    return answer();
  };
  const world = await createWorld({ wrapForge: wrapForge(watch) });
  await givenProject(world.forge);
  const pr = await givenScheduled(world.forge, 'a');
  await world.drain({ maxMs: HOUR });
  expect([landedOf(world), asked.includes('listReviews')]).toEqual([[pr], false]);
  expect(await world.record()).not.toHaveProperty('attempts');
});
