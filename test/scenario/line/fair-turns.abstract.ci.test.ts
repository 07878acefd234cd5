import { type Hook, headOf, landedOf, told, wrapForge } from '../hooks.ts';
import { givenProject } from '../stories.ts';
import { createWorld } from '../world.ts';

/** Turns between authors (decision 0215), and heads whose failure is known (decision 0216). */
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

async function given(repo: Readonly<Record<string, unknown>> = {}) {
  const world = await createWorld({ repo });
  await givenProject(world.forge);
  return world;
}
type World = Awaited<ReturnType<typeof given>>;

async function ask(world: World, author: string, by = 'dev', content?: string): Promise<number> {
  const name = `${author}-${world.clock.now()}`;
  const files = { [`src/${name}.txt`]: content ?? `${name}\n` };
  const pr = await world.forge.openPullRequest({ branch: name, author, files });
  await world.forge.scheduleAs(by, pr);
  await world.clock.advance(1_000);
  return pr;
}

async function askMany(world: World, author: string, count: number): Promise<readonly number[]> {
  const prs: number[] = [];
  for (let each = 0; each < count; each += 1) prs.push(await ask(world, author));
  return prs;
}

async function askAgain(world: World, pr: number, by: string): Promise<void> {
  await world.forge.cancelSchedule(pr);
  await world.clock.advance(MINUTE);
  await world.forge.scheduleAs(by, pr);
  await world.drain({ maxMs: HOUR });
}

const order = (world: World): readonly number[] => world.forge.merges().map(({ pr }) => pr);

async function membersOf(world: World): Promise<readonly number[]> {
  return (await world.record()).batches.flatMap((batch) => batch.members.map(({ pr }) => pr));
}

describe('an author with more than a quarter of the line takes turns with the others', () => {
  test('a person waits for what is in flight, not for sixty pull requests of one account; the page shows that order', async () => {
    const world = await given();
    world.forge.gateDurationMs = 10 * MINUTE;
    const crowd = await askMany(world, 'Agent', 60);
    await world.drain({ until: () => world.forge.runs().length > 0 });
    const inFlight = await membersOf(world);
    const [ann, bob] = [await ask(world, 'ann'), await ask(world, 'bob')];
    await world.reconcile();
    const places = (await world.record()).entries.map(({ pr }) => pr);
    const expected = [...inFlight, ann, bob, crowd[inFlight.length]];
    expect(places.slice(0, expected.length)).toEqual(expected);
    await world.drain({ maxMs: 24 * HOUR });
    expect(order(world).slice(0, expected.length)).toEqual(expected);
    expect(order(world)).toHaveLength(62);
  });

  test('it has one turn in four while others wait, and the others keep the order of their schedules', async () => {
    const world = await given();
    const until = world.clock.now() + HOUR;
    await world.settings({ pause: { kind: 'pause', reason: null, since: world.clock.now(), until } });
    const [first, ...rest] = await askMany(world, 'agent', 8);
    const [a, b, c, d, e] = [...(await askMany(world, 'ann', 3)), ...(await askMany(world, 'bob', 2))];
    const [second, ...others] = rest;
    await world.drain({ maxMs: 24 * HOUR });
    expect(order(world)).toEqual([first, a, b, c, second, d, e, ...others]);
  });

  test('a batch ends after the last of the others: what the crowd has behind it fails with none of them', async () => {
    const world = await given();
    const until = world.clock.now() + HOUR;
    await world.settings({ pause: { kind: 'pause', reason: null, since: world.clock.now(), until } });
    const crowd = await askMany(world, 'agent', 12);
    const others = [...(await askMany(world, 'ann', 1)), ...(await askMany(world, 'bob', 1))];
    await world.drain({ until: () => world.forge.runs().length > 0 });
    expect(await membersOf(world)).toEqual([crowd[0], ...others]);
    await world.drain({ maxMs: 24 * HOUR });
    expect(order(world)).toEqual([crowd[0], ...others, ...crowd.slice(1)]);
  });

  test('up to a quarter of the line, and up to four, the order is that of the schedules', async () => {
    const world = await given();
    const prs = [
      ...(await askMany(world, 'dev', 4)),
      ...(await askMany(world, 'ann', 3)),
      await ask(world, 'bob'),
    ];
    await world.drain({ maxMs: HOUR });
    expect(order(world)).toEqual(prs);
    expect(await world.record()).not.toHaveProperty('turns');
  });
});

describe('a head whose failure is known', () => {
  test('scheduled again by a bot it costs no gate run, and the failure is told again at once with the run', async () => {
    const links: unknown[] = [];
    const watch: Hook = async (name, args, answer) => {
      const post = args[1] as { readonly description: string; readonly targetUrl: string | null };
      if (name === 'postStatus' && post.description.startsWith('bounced:')) links.push(post.targetUrl);
      return answer();
    };
    const world = await createWorld({ repo: { bots: ['Agent'] }, wrapForge: wrapForge(watch) });
    await givenProject(world.forge);
    const pr = await ask(world, 'dev', 'agent', 'BAD\n');
    await world.drain({ maxMs: HOUR });
    const runs = world.forge.runs().length;
    const head = await headOf(world, pr);
    const link = links.at(-1);
    for (let time = 0; time < 3; time += 1) await askAgain(world, pr, 'agent');
    // Another landing moves the base, and changes nothing about the head.
    const other = await ask(world, 'ann');
    await world.drain({ maxMs: HOUR });
    const before = world.forge.runs().length;
    await askAgain(world, pr, 'agent');
    expect([runs > 0, before - runs, world.forge.runs().length - before]).toEqual([true, 1, 0]);
    expect(landedOf(world)).toEqual([other]);
    const status = await world.forge.status(head, 'mq');
    expect(status?.description).toBe(
      'bounced: the gate fails with this head, which has not changed since; push a fix, or let a person schedule it again',
    );
    expect([link, links.at(-1)]).toEqual([expect.stringContaining('/actions/runs/'), link]);
    const events = await told(world, pr);
    expect(events.filter((event) => event === 'pr_bounced:verdict_known')).toHaveLength(4);
  });

  test('it is the failure of the head: closed, and opened under another number it costs a bot no gate run', async () => {
    const world = await createWorld({ repo: { bots: ['Agent'] } });
    const { forge } = world;
    await givenProject(forge);
    const pr = await ask(world, 'dev', 'agent', 'BAD\n');
    await world.drain({ maxMs: HOUR });
    const head = await headOf(world, pr);
    await forge.close(pr);
    const anew = await forge.openPullRequest({ branch: 'anew', author: 'agent', files: {}, head });
    await ask(world, 'ann');
    await world.drain({ maxMs: HOUR });
    const before = forge.runs().length;
    await askAgain(world, anew, 'agent');
    expect(forge.runs().length - before).toBe(0);
    expect((await told(world, anew)).at(0)).toBe('pr_bounced:verdict_known');
  });

  test('a person asks for one retest of it on one base, a bot for none; after another landing a person may ask again', async () => {
    const world = await given({ bots: ['agent'] });
    const pr = await ask(world, 'dev', 'agent', 'BAD\n');
    await world.drain({ maxMs: HOUR });
    const counts = [world.forge.runs().length];
    for (const by of ['agent', 'dev', 'agent', 'dev']) {
      await askAgain(world, pr, by);
      counts.push(world.forge.runs().length);
    }
    const spent = counts.slice(1).map((count, index) => count - (counts[index] as number));
    expect([spent[0], (spent[1] as number) > 0, spent[2], spent[3]]).toEqual([0, true, 0, 0]);
    const status = await world.forge.status(await headOf(world, pr), 'mq');
    expect(status?.description).toMatch(/^bounced: the gate failed again with this head on this base/);
    expect(await told(world, pr)).toContain('pr_bounced:retest_spent');
    await ask(world, 'ann');
    await world.drain({ maxMs: HOUR });
    const runs = world.forge.runs().length;
    await askAgain(world, pr, 'dev');
    expect(world.forge.runs().length).toBeGreaterThan(runs);
  });

  test('one that failed by a flake lands by the retest of a person', async () => {
    const world = await given({ bots: ['agent'] });
    const judge = world.forge.judge;
    const pr = await ask(world, 'dev', 'agent');
    const head = await headOf(world, pr);
    // With it, not without it: the base is probed before it is blamed.
    world.forge.judge = (files, run) =>
      [...files.keys()].some((name) => name.startsWith('src/dev-')) ? 'failure' : judge(files, run);
    await world.drain({ maxMs: 4 * HOUR });
    expect(await told(world, pr)).toContain('pr_bounced:gate_failed');
    world.forge.judge = judge;
    await askAgain(world, pr, 'agent');
    expect(landedOf(world)).toEqual([]);
    await askAgain(world, pr, 'dev');
    expect([landedOf(world), await headOf(world, pr)]).toEqual([[pr], head]);
  });

  /** Bounced twice by a flake on one base, and told that its retest is spent. */
  async function givenSpent() {
    const world = await given({ bots: ['agent'] });
    const { judge } = world.forge;
    const pr = await ask(world, 'dev', 'dev');
    world.forge.judge = (files, run) =>
      [...files.keys()].some((name) => name.startsWith('src/dev-')) ? 'failure' : judge(files, run);
    await world.drain({ maxMs: 4 * HOUR });
    await askAgain(world, pr, 'dev');
    world.forge.judge = judge;
    await askAgain(world, pr, 'dev');
    expect(await told(world, pr)).toContain('pr_bounced:retest_spent');
    expect(landedOf(world)).toEqual([]);
    return { world, pr };
  }

  test('one that failed twice by flakes lands after each step that its words name', async () => {
    const steps: readonly ((world: World, pr: number) => Promise<void>)[] = [
      async (world, pr) => {
        await world.forge.pushToPullRequest(pr, { 'src/fix.txt': 'of the flake\n' });
      },
      async (world, pr) => {
        await world.clock.advance(HOUR);
        await askAgain(world, pr, 'dev');
      },
      async (world, pr) => {
        await ask(world, 'ann');
        await world.drain({ maxMs: HOUR });
        await askAgain(world, pr, 'dev');
      },
    ];
    for (const step of steps) {
      const { world, pr } = await givenSpent();
      await step(world, pr);
      await world.clock.advance(MINUTE);
      await world.drain({ maxMs: 2 * HOUR });
      expect(landedOf(world)).toContain(pr);
    }
  });

  test('a person who asks all the time has one retest an hour, and a bot has none', async () => {
    const world = await given({ bots: ['agent'] });
    const pr = await ask(world, 'dev', 'dev', 'BAD\n');
    await world.drain({ maxMs: HOUR });
    await askAgain(world, pr, 'dev');
    const runs = async (by: string): Promise<number> => {
      const before = world.forge.runs().length;
      await world.forge.cancelSchedule(pr);
      await world.clock.advance(MINUTE);
      await world.forge.scheduleAs(by, pr);
      await world.drain({ maxMs: 15 * MINUTE });
      return world.forge.runs().length - before;
    };
    await world.clock.advance(2 * HOUR);
    expect([await runs('agent'), (await runs('dev')) > 0]).toEqual([0, true]);
    expect([await runs('dev'), await runs('dev')]).toEqual([0, 0]);
    const { at = 0 } = (await world.record()).bounced.find((each) => each.pr === pr)?.verdict ?? {};
    await world.clock.advance(at + HOUR - 2 * MINUTE - world.clock.now());
    expect(await runs('dev')).toBe(0);
    await world.clock.advance(MINUTE);
    expect(await runs('dev')).toBeGreaterThan(0);
  });

  test('a commit without a change is no other tree: told at once, then tested when a person schedules it', async () => {
    const { world, pr } = await givenSpent();
    const runs = world.forge.runs().length;
    const head = await world.forge.pushToPullRequest(pr, {});
    await world.clock.advance(MINUTE);
    await world.drain({ maxMs: HOUR });
    expect([landedOf(world), world.forge.runs().length]).toEqual([[], runs]);
    expect((await world.forge.status(head, 'mq'))?.description).toMatch(
      /^bounced: .*push a fix, or cancel auto-merge and schedule again$/,
    );
    await askAgain(world, pr, 'dev');
    expect(landedOf(world)).toEqual([pr]);
  });

  test('a retest that is under way goes on when a bot schedules its head again', async () => {
    const world = await given({ bots: ['agent'] });
    const { judge } = world.forge;
    const pr = await ask(world, 'dev', 'agent');
    world.forge.judge = (files, run) =>
      [...files.keys()].some((name) => name.startsWith('src/dev-')) ? 'failure' : judge(files, run);
    await world.drain({ maxMs: 4 * HOUR });
    world.forge.judge = judge;
    world.forge.gateDurationMs = 10 * MINUTE;
    const runs = world.forge.runs().length;
    await world.forge.cancelSchedule(pr);
    await world.clock.advance(MINUTE);
    await world.forge.scheduleAs('dev', pr);
    await world.drain({ until: () => world.forge.runs().length > runs });
    await askAgain(world, pr, 'agent');
    expect(landedOf(world)).toEqual([pr]);
  });

  test('a new head is tested, also where a bot schedules it', async () => {
    const world = await given({ bots: ['agent'] });
    const pr = await ask(world, 'dev', 'agent', 'BAD\n');
    await world.drain({ maxMs: HOUR });
    await askAgain(world, pr, 'agent');
    const files = await world.forge.readFiles(await headOf(world, pr));
    const bad = [...files].find(([, content]) => content === 'BAD\n')?.[0] ?? '';
    await world.forge.pushToPullRequest(pr, { [bad]: 'good\n' });
    await askAgain(world, pr, 'agent');
    expect(landedOf(world)).toEqual([pr]);
  });

  test('a record that is lost forgets the failure: the next schedule is tested', async () => {
    const world = await given({ bots: ['agent'] });
    const pr = await ask(world, 'dev', 'agent', 'BAD\n');
    await world.drain({ maxMs: HOUR });
    await world.loseRecord();
    await world.drain({ maxMs: HOUR });
    const runs = world.forge.runs().length;
    await askAgain(world, pr, 'agent');
    expect(world.forge.runs().length).toBeGreaterThan(runs);
    const after = world.forge.runs().length;
    await askAgain(world, pr, 'agent');
    expect(world.forge.runs()).toHaveLength(after);
  });
});
