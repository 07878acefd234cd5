import { TICK_INTERVAL_MS } from '#core/domain/limits.ts';
import { BACKPORT_TRIES_MS } from '#core/domain/pulls/backport.ts';
import { ForgeError } from '#core/ports/forge.ts';
import { givenBackportWorld } from '../../scenario/backport-world.ts';
import type { Scenes } from '../scene-stage.ts';
import { expectResults, HEAD, type Problems, resultsOf } from './backport-scenes.ts';

/** Scenes in which the forge or a function fails while landings are carried to other branches (decision 0272). */

/** After so long a function is ended by its platform. */
const FUNCTION_MS = 29_000;

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

export const BACKPORT_TROUBLE_SCENES = {
  'a function that carries landings dies at each of its calls': carryInPieces,
  'the forge fails on one landing for ever, and another is behind it': carryBesideFailing,
  'a function dies at one landing each time, and another is behind it': carryBesideDying,
  'a function dies at the later of two landings each time': carryBeforeDying,
  'another look comes during the last try of a backport': carryBesideLastTry,
  'the forge is so slow that a landing fills a function': carryFromSlowForge,
  'the forge answers nothing when a backport would be given up': carryFromSilentForge,
} satisfies Scenes;
