import { TICK_INTERVAL_MS } from '#core/domain/limits.ts';
import {
  BACKPORT_TRIES_MS,
  BACKPORT_WINDOW_MS,
  BACKPORTS_PER_PULL_MAX,
} from '#core/domain/pulls/backport.ts';
import { backportBranch, DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import { ForgeError } from '#core/ports/forge.ts';
import { hashBlob } from '../../../engine-container/src/staging/objects.ts';
import { type BackportWorld, givenBackportWorld } from '../../scenario/backport-world.ts';
import { judgeBackports, judgeCarried } from '../backports.ts';
import type { Scenes } from '../scene-stage.ts';

/** Scenes about landings that are carried to other branches (decisions 0247 and 0272). */
type Problems = Promise<readonly string[]>;

const BOT = 'mq-bot';
/** After so long a function is ended by its platform. */
const FUNCTION_MS = 29_000;
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

/** The function dies at each of its calls, before it and after it, or the forge answers with a fault. */
async function carryInPieces(): Problems {
  const problems: string[] = [];
  for (const status of [0, 500, 502]) {
    for (const when of ['before', 'after'] as const) {
      for (let nth = 1; nth < 24; nth += 1) {
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
        const found = await expectResults(world, 'v15 opened', 'v99 no_branch');
        problems.push(...found.map((each) => `${status} ${when} call ${nth}: ${each}`));
      }
    }
  }
  return problems;
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

/** The forge fails on one landing for ever, and one more lands behind it. */
async function carryBesideFailing(): Problems {
  const world = await givenBackportWorld();
  const real = world.backports;
  world.backports = {
    ...real,
    applyPatch: async (request) => {
      if (request.newBranch === HEAD) throw new ForgeError('unreachable', 'POST diffpatch', 500);
      return real.applyPatch(request);
    },
  };
  await world.land('a', ['backport v15']);
  await world.land('b', ['backport v15']);
  await world.ticks(2);
  const problems: string[] = [];
  if (String(await resultsOf(world)) !== 'v15 opened')
    problems.push('the one behind was not carried at once');
  await world.clock.advance(BACKPORT_TRIES_MS);
  await world.carry();
  await world.carry();
  problems.push(...(await expectResults(world, 'v15 opened', 'v15 failed')));
  if (world.forge.remarks().length !== 1) problems.push('what was given up was not told');
  return problems;
}

/** The function dies at one landing each time, and one more lands a quarter of an hour later. */
async function carryBesideDying(): Problems {
  const world = await givenBackportWorld();
  const real = world.backports;
  world.backports = {
    ...real,
    readLanded: async (pr) => {
      if (pr === 1) throw new Error('the function had no more time');
      return real.readLanded(pr);
    },
  };
  await world.land('a', ['backport v15']);
  await world.ticks(3);
  await world.land('b', ['backport v15']);
  await world.ticks(1);
  const results = await resultsOf(world);
  return String(results) === 'v15 opened' ? [] : ['the one behind was not carried'];
}

/** The function dies at the later of two landings each time, and none was carried before that. */
async function carryBeforeDying(): Problems {
  const world = await givenBackportWorld();
  const real = world.backports;
  let isAway = true;
  world.backports = {
    ...real,
    readLanded: async (pr) => {
      if (isAway) throw new ForgeError('unreachable', 'GET pulls/{n}', 502);
      return real.readLanded(pr);
    },
    applyPatch: async (request) => {
      if (request.newBranch !== HEAD) throw new Error('the function had no more time');
      return real.applyPatch(request);
    },
    readBranchTip: async (branch) => {
      if (isAway) throw new ForgeError('unreachable', 'GET branches/{branch}', 502);
      return real.readBranchTip(branch);
    },
  };
  await world.land('a', ['backport v15']);
  await world.land('b', ['backport v15']);
  await world.ticks(4);
  isAway = false;
  await world.ticks(3);
  const problems: string[] = [];
  if (String(await resultsOf(world)) !== 'v15 opened') problems.push('the earlier one was not carried');
  await world.clock.advance(BACKPORT_TRIES_MS);
  for (let looks = 0; looks < 3; looks += 1) {
    await world.carry();
    await world.clock.advance(TICK_INTERVAL_MS);
  }
  problems.push(...(await expectResults(world, 'v15 opened', 'v15 failed')));
  if (world.forge.remarks().length !== 1) problems.push('what each function died of was not told');
  return problems;
}

/** Each listing takes so long that one landing fills a function, or more than fills it. */
async function carryFromSlowForge(): Problems {
  const problems: string[] = [];
  for (const [readMs, results] of [
    [8_000, ['v15 opened', 'v15 opened']],
    [11_000, ['v15 failed', 'v15 failed']],
  ] as const) {
    const world = await givenBackportWorld();
    await world.forge.pushToBase({ 'src/other.txt': 'other\n' }, 'v15');
    await world.change({ backports: false });
    await world.land('a', ['backport v15']);
    await world.land('b', ['backport v15']);
    await world.change({ backports: true });
    const real = world.backports;
    let begunAt = 0;
    world.backports = {
      ...real,
      readTree: async (id, depth) => {
        await world.clock.advance(readMs);
        if (world.clock.now() - begunAt > FUNCTION_MS) problems.push(`${readMs}: a function died`);
        return real.readTree(id, depth);
      },
    };
    for (const waitMs of [0, 0, BACKPORT_TRIES_MS, 0]) {
      await world.clock.advance(waitMs);
      begunAt = world.clock.now();
      await world.carry();
    }
    problems.push(...(await expectResults(world, ...results)));
  }
  return problems;
}

/** Another look comes while a function is at its last try. */
async function carryBesideLastTry(): Problems {
  const world = await givenBackportWorld();
  await world.change({ backports: false });
  await world.land('a', ['backport v15']);
  await world.change({ backports: true });
  await world.clock.advance(BACKPORT_TRIES_MS);
  const real = world.backports;
  let isFirst = true;
  world.backports = {
    ...real,
    applyPatch: async (request) => {
      if (isFirst) {
        isFirst = false;
        await world.carry();
      }
      return real.applyPatch(request);
    },
  };
  await world.carry();
  const problems = await expectResults(world, 'v15 opened');
  if (world.forge.remarks().length > 0) problems.push('what is still tried was told as given up');
  return problems;
}

/** The forge answers nothing at a time when what it fails on would be given up. */
async function carryFromSilentForge(): Problems {
  const world = await givenBackportWorld();
  await world.change({ backports: false });
  await world.land('a', ['backport v15']);
  await world.change({ backports: true });
  await world.clock.advance(BACKPORT_TRIES_MS);
  for (const calls of [0, 1, 2]) {
    let answered = 0;
    world.forge.fault = () => {
      answered += 1;
      return answered > calls ? { status: 502 } : null;
    };
    await world.carry();
  }
  world.forge.fault = () => null;
  await world.carry();
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
  'landings are carried by their labels': carryByLabels,
  'a pull request with a label waits for its gate': carryAfterWaiting,
  'landings that no owner wants carried': carryUnasked,
  'a branch has the change of a backport, or has its file otherwise': carryOnOtherBranch,
  'a person has a branch under the name of a backport': carryOntoPersons,
  'a person closes a backport': carryClosed,
  'what became of a backport is forgotten': tellTwice,
  'a function that carries landings dies at each of its calls': carryInPieces,
  'a pull request has a dozen labels of backports': carryToMany,
  'a landing is called merged a minute later': carryMergedLate,
  'the forge fails on one landing for ever, and another is behind it': carryBesideFailing,
  'a function dies at one landing each time, and another is behind it': carryBesideDying,
  'a function dies at the later of two landings each time': carryBeforeDying,
  'another look comes during the last try of a backport': carryBesideLastTry,
  'the forge is so slow that a landing fills a function': carryFromSlowForge,
  'the forge answers nothing when a backport would be given up': carryFromSilentForge,
  'the forge writes a backport otherwise than the patch says': carryWrittenOtherwise,
  'a branch moves while a backport to it is made': carryOntoMoving,
} satisfies Scenes;
