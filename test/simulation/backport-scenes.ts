import { BACKPORT_WINDOW_MS, BACKPORTS_PER_PULL_MAX } from '#core/domain/backport.ts';
import { backportBranch, DEFAULT_SERVICE_NAME } from '#core/domain/queue-names.ts';
import { type BackportWorld, givenBackportWorld } from '../scenario/backport-world.ts';
import { judgeBackports, judgeCarried } from './backports.ts';

/** Scenes of `scenes.ts` about landings that are carried to other branches (decision 0247). */
type Problems = Promise<readonly string[]>;

const BOT = 'mq-bot';
const HEAD = backportBranch(DEFAULT_SERVICE_NAME, 1, 'v15');

async function judge(world: BackportWorld): Promise<string[]> {
  const repo = await world.row();
  const events = await world.store.listOwnEvents(repo, 200);
  return [...judgeBackports(world.forge, BOT), ...judgeCarried(world.forge, repo, events, world.clock.now())];
}

const resultsOf = async (world: BackportWorld): Promise<readonly string[]> =>
  ((await world.row()).backported ?? []).flatMap(({ backports }) =>
    backports.map(({ branch, result }) => `${branch} ${result}`),
  );

/** What became of it is exactly this, and nothing against the rules happened on the way. */
async function expectResults(world: BackportWorld, ...expected: readonly string[]): Promise<string[]> {
  const results = await resultsOf(world);
  const problems = await judge(world);
  if (String(results) === String(expected)) return problems;
  return [...problems, `it ended as ${results.join(', ') || 'nothing'}, not as ${expected.join(', ')}`];
}

/** A label that does not hold, one that names the base, one of a branch that is not there, and one that holds. */
export async function carryByLabels(): Problems {
  const world = await givenBackportWorld();
  await world.land('a', ['bug', 'backport v15', 'Backport main', 'backport v99']);
  await world.ticks(2);
  const { asked } = world;
  await world.ticks(4);
  const problems = await expectResults(world, 'v15 opened', 'main same_branch', 'v99 no_branch');
  if (world.forge.pullsFrom(HEAD).length === 0) problems.push('no pull request was opened');
  if (world.forge.remarks().length !== 2) problems.push('what no pull request was opened for was not told');
  if (world.asked > asked) problems.push('a landing that was dealt with is asked for again');
  return problems;
}

/** A pull request waits for its gate with a label, and lands later. */
export async function carryAfterWaiting(): Problems {
  const world = await givenBackportWorld();
  world.forge.gateDurationMs = 15 * 60_000;
  await world.land('a', ['backport v15']);
  await world.ticks(2);
  return expectResults(world, 'v15 opened');
}

/** An owner has not switched it on, switches it on long after a landing, or has the queue switched off. */
export async function carryUnasked(): Problems {
  const problems: string[] = [];
  const off = await givenBackportWorld({ backports: false });
  await off.land('a', ['backport v15']);
  await off.ticks(2);
  await off.carry();
  if (off.forge.pullsFrom(HEAD).length > 0) problems.push('carried without the leave of the owner');
  await off.clock.advance(BACKPORT_WINDOW_MS);
  await off.change({ backports: true });
  await off.carry();
  if (off.forge.pullsFrom(HEAD).length > 0) problems.push('a landing of long ago was carried');
  const stopped = await givenBackportWorld({ backports: false });
  await stopped.land('a', ['backport v15']);
  await stopped.change({ backports: true, queueEnabled: false });
  await stopped.carry();
  if (stopped.forge.pullsFrom(HEAD).length > 0) problems.push('carried by a queue that is switched off');
  return [...problems, ...judgeBackports(off.forge, BOT), ...judgeBackports(stopped.forge, BOT)];
}

/** The branch has the file otherwise, or has the change. */
export async function carryOnOtherBranch(): Problems {
  const problems: string[] = [];
  for (const [content, result] of [
    ['otherwise\n', 'conflict'],
    ['a\n', 'nothing_left'],
  ] as const) {
    const world = await givenBackportWorld();
    await world.forge.pushToBase({ 'src/a.txt': content }, 'v15');
    await world.land('a', ['backport v15']);
    await world.ticks(2);
    problems.push(...(await expectResults(world, `v15 ${result}`)));
    if (world.forge.remarks().length !== 1) problems.push(`${result} was not told`);
    if ((await world.forge.branches()).includes(HEAD)) problems.push(`${result} leaves a branch behind`);
  }
  return problems;
}

/** A person has a branch under the name of a backport. */
export async function carryOntoPersons(): Problems {
  const world = await givenBackportWorld();
  await world.forge.pushBranch(HEAD, await world.forge.tip('main'));
  await world.land('a', ['backport v15']);
  await world.ticks(2);
  return expectResults(world, 'v15 name_taken');
}

/** A person closes a backport, and the row of the repository does not know of it. */
export async function carryClosed(): Problems {
  const world = await givenBackportWorld();
  await world.land('a', ['backport v15']);
  await world.ticks(2);
  const [made] = world.forge.pullsFrom(HEAD);
  if (made === undefined) return ['no pull request was opened'];
  await world.forge.close(made.number);
  await world.change({ backported: [] });
  await world.carry();
  return expectResults(world, 'v15 opened');
}

/** The row does not know what was told already. */
export async function tellTwice(): Problems {
  const world = await givenBackportWorld();
  await world.land('a', ['backport v99']);
  await world.ticks(2);
  await world.change({ backported: [] });
  await Promise.all([world.carry(), world.carry()]);
  return expectResults(world, 'v99 no_branch');
}

/** The function dies at each of its calls, before it and after it, or the forge answers with a fault. */
export async function carryInPieces(): Problems {
  const problems: string[] = [];
  for (const status of [0, 500, 502]) {
    for (const when of ['before', 'after'] as const) {
      for (let nth = 1; nth < 12; nth += 1) {
        const world = await givenBackportWorld();
        await world.change({ backports: false });
        await world.land('a', ['backport v15', 'backport v99']);
        await world.change({ backports: true });
        let calls = 0;
        world.forge.fault = () => {
          calls += 1;
          return calls === nth ? { status, when } : null;
        };
        await world.carry();
        world.forge.fault = () => null;
        for (let again = 0; again < 3; again += 1) await world.carry();
        // A fault at the patch itself, with no branch made, cannot be told from a conflict.
        const isHazard = (await resultsOf(world)).includes('v15 conflict');
        const isRight = isHazard && status === 500 && when === 'before';
        const found = isRight
          ? await judge(world)
          : await expectResults(world, 'v15 opened', 'v99 no_branch');
        problems.push(...found.map((each) => `${status} ${when} call ${nth}: ${each}`));
      }
    }
  }
  return problems;
}

/** More labels than a pull request may have backports. */
export async function carryToMany(): Problems {
  const world = await givenBackportWorld();
  const labels = Array.from({ length: BACKPORTS_PER_PULL_MAX + 2 }, (_, index) => `backport v${index + 20}`);
  await world.land('a', labels);
  await world.ticks(2);
  const made = (await resultsOf(world)).length;
  const problems = await judge(world);
  return made === BACKPORTS_PER_PULL_MAX ? problems : [...problems, `${made} backports of one pull request`];
}
