import { BACKPORT_WINDOW_MS, BACKPORTS_PER_PULL_MAX } from '#core/domain/pulls/backport.ts';
import { backportBranch, DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import { ForgeError } from '#core/ports/forge.ts';
import { hashBlob } from '../../../engine-container/src/staging/objects.ts';
import { type BackportWorld, givenBackportWorld } from '../../scenario/backport-world.ts';
import { judgeBackports, judgeCarried } from '../backports.ts';
import type { Scenes } from '../scene-stage.ts';

/** Scenes about landings that are carried to other branches (decisions 0247 and 0272). */
export type Problems = Promise<readonly string[]>;

const BOT = 'mq-bot';
export const HEAD = backportBranch(DEFAULT_SERVICE_NAME, 1, 'v15');

async function judge(world: BackportWorld): Promise<string[]> {
  const repo = await world.row();
  const events = await world.store.listOwnEvents(repo, 200);
  return [...judgeBackports(world.forge, BOT), ...judgeCarried(world.forge, repo, events, world.clock.now())];
}

export const resultsOf = async (world: BackportWorld): Promise<readonly string[]> =>
  ((await world.row()).backported ?? []).flatMap(({ backports }) =>
    backports.map(({ branch, result }) => `${branch} ${result}`),
  );

/** What became of it is exactly this, and nothing against the rules happened on the way. */
export async function expectResults(world: BackportWorld, ...expected: readonly string[]): Promise<string[]> {
  const results = await resultsOf(world);
  const problems = await judge(world);
  if (String(results) === String(expected)) return problems;
  return [...problems, `it ended as ${results.join(', ') || 'nothing'}, not as ${expected.join(', ')}`];
}

/** A label that does not hold, one that names the base, one of a branch that is not there, and one that holds. */
async function carryByLabels(): Problems {
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

/** Two branches have names that begin alike, too long for a backport of theirs to have them whole. */
async function carryToLongNames(): Problems {
  const world = await givenBackportWorld();
  const names = ['a', 'b'].map((end) => `${'release/'.repeat(11)}${end}`);
  for (const name of names) await world.forge.pushBranch(name, await world.forge.tip('v15'));
  await world.land(
    'a',
    names.map((name) => `backport ${name}`),
  );
  await world.ticks(2);
  return expectResults(world, ...names.map((name) => `${name} opened`));
}

/** A pull request waits for its gate with a label, and lands later. */
async function carryAfterWaiting(): Problems {
  const world = await givenBackportWorld();
  world.forge.gateDurationMs = 15 * 60_000;
  const real = world.backports;
  const early = new Set<string>();
  world.backports = {
    ...real,
    readLanded: async (pr) => {
      if (!world.forge.isMerged(pr)) early.add(`#${pr} was looked at before it had landed`);
      return real.readLanded(pr);
    },
  };
  await world.land('a', ['backport v15']);
  await world.ticks(2);
  return [...early, ...(await expectResults(world, 'v15 opened'))];
}

/** An owner has not switched it on, switches it on long after a landing, or has the queue switched off. */
async function carryUnasked(): Problems {
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
async function carryOnOtherBranch(): Problems {
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
async function carryOntoPersons(): Problems {
  const world = await givenBackportWorld();
  await world.forge.pushBranch(HEAD, await world.forge.tip('main'));
  await world.land('a', ['backport v15']);
  await world.ticks(2);
  return expectResults(world, 'v15 name_taken');
}

/** A person closes a backport, and the row of the repository does not know of it. */
async function carryClosed(): Problems {
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
async function tellTwice(): Problems {
  const world = await givenBackportWorld();
  await world.land('a', ['backport v99']);
  await world.ticks(2);
  await world.change({ backported: [] });
  await Promise.all([world.carry(), world.carry()]);
  return expectResults(world, 'v99 no_branch');
}

/** More labels than a pull request may have backports. */
async function carryToMany(): Problems {
  const world = await givenBackportWorld();
  const labels = Array.from({ length: BACKPORTS_PER_PULL_MAX + 2 }, (_, index) => `backport v${index + 20}`);
  await world.land('a', labels);
  await world.ticks(2);
  const made = (await resultsOf(world)).length;
  const problems = await judge(world);
  return made === BACKPORTS_PER_PULL_MAX ? problems : [...problems, `${made} backports of one pull request`];
}

/** The base moves, and the forge calls the pull request merged a minute later. */
async function carryMergedLate(): Problems {
  const world = await givenBackportWorld();
  const real = world.backports;
  let seenAt: number | null = null;
  world.backports = {
    ...real,
    readLanded: async (pr) => {
      const landed = await real.readLanded(pr);
      seenAt ??= world.clock.now();
      return world.clock.now() - seenAt < 60_000 ? { ...landed, mergeCommit: null } : landed;
    },
  };
  await world.land('a', ['backport v15']);
  await world.ticks(2);
  return expectResults(world, 'v15 opened');
}

/** The forge writes another content than the patch names, here and there after the branch has moved, or keeps the branch. */
async function carryWrittenOtherwise(): Problems {
  const problems: string[] = [];
  const other = hashBlob(Buffer.from('other\n'), 'sha1');
  for (const [moves, keeps, result] of [
    [false, false, 'v15 not_exact'],
    [true, false, 'v15 opened'],
    [false, true, 'v15 not_exact'],
  ] as const) {
    const world = await givenBackportWorld();
    await world.forge.pushToBase({ 'src/other.txt': 'other\n' }, 'v15');
    const real = world.backports;
    let isFirst = true;
    world.backports = {
      ...real,
      applyPatch: async (request) => {
        if (!isFirst) return real.applyPatch(request);
        isFirst = false;
        if (moves) await world.forge.pushToBase({ 'src/moved.txt': 'moved\n' }, 'v15');
        return real.applyPatch({ ...request, patch: request.patch.replace(/(?<=\.\.)[0-9a-f]{40}/, other) });
      },
      deleteBranch: async (branch) => {
        if (keeps) throw new ForgeError('unreachable', 'DELETE branches/{branch}', 502);
        return real.deleteBranch(branch);
      },
    };
    await world.land('a', ['backport v15']);
    await world.ticks(2);
    problems.push(...(await expectResults(world, result)));
    const isThere = (await world.forge.branches()).includes(HEAD);
    if (isThere !== (keeps || moves)) problems.push(`${result}: its branch is ${isThere ? '' : 'not '}there`);
  }
  return problems;
}

/** The branch moves between the plan and the patch. */
async function carryOntoMoving(): Problems {
  const world = await givenBackportWorld();
  const real = world.backports;
  world.backports = {
    ...real,
    applyPatch: async (request) => {
      await world.forge.pushToBase({ 'src/moved.txt': 'moved\n' }, 'v15');
      return real.applyPatch(request);
    },
  };
  await world.land('a', ['backport v15']);
  await world.ticks(2);
  return expectResults(world, 'v15 opened');
}

export const BACKPORT_SCENES = {
  'landings are carried to branches with long names': carryToLongNames,
  'landings are carried by their labels': carryByLabels,
  'a pull request with a label waits for its gate': carryAfterWaiting,
  'landings that no owner wants carried': carryUnasked,
  'a branch has the change of a backport, or has its file otherwise': carryOnOtherBranch,
  'a person has a branch under the name of a backport': carryOntoPersons,
  'a person closes a backport': carryClosed,
  'what became of a backport is forgotten': tellTwice,
  'a pull request has a dozen labels of backports': carryToMany,
  'a landing is called merged a minute later': carryMergedLate,
  'the forge writes a backport otherwise than the patch says': carryWrittenOtherwise,
  'a branch moves while a backport to it is made': carryOntoMoving,
} satisfies Scenes;
