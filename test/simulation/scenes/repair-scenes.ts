import { REPAIR_EVERY_MS, REPAIRS_A_DAY_MAX } from '#core/domain/set-up/repair.ts';
import { repairSetup } from '#core/services/set-up/repair-setup.ts';
import { REPO, TICK_MS } from '../../scenario/queue-world.ts';
import {
  givenRepairWorld,
  type RepairWorld,
  removeContext,
  undoRepairs,
} from '../../scenario/repair-world.ts';
import { givenScheduled } from '../../scenario/stories.ts';
import type { Scenes } from '../scene-stage.ts';

/** Scenes about repairs of a set-up (decision 0189). */

const HOUR_MS = 60 * 60_000;

/** A person undoes each repair for a while. */
async function undoneRepairs(): Promise<readonly string[]> {
  const world = await givenRepairWorld();
  await givenScheduled(world.forge, 'a');
  const tries: number[] = [];
  for (let count = 0; count < 10; count += 1) {
    const before = world.writes().length;
    await undoRepairs(world, HOUR_MS / 2);
    if (world.writes().length > before + 1) return ['a part was put back twice within half an hour'];
    if (world.writes().length > before) tries.push(world.clock.now());
  }
  const problems: string[] = [];
  if (tries.length > REPAIRS_A_DAY_MAX) problems.push('a part was put back again and again');
  const isHasty = tries.some((at, index) => index > 0 && at - (tries[index - 1] ?? 0) < REPAIR_EVERY_MS);
  if (isHasty) problems.push('a part was put back twice within an hour');
  return tries.length === 0 ? ['nothing was put back'] : problems;
}

/** A rule is edited where the owner has not allowed repairs. */
async function forbiddenRepair(): Promise<readonly string[]> {
  const world = await givenRepairWorld({ repairSetup: false });
  await removeContext(world);
  await givenScheduled(world.forge, 'a');
  await world.pass(3 * TICK_MS);
  await repairSetup(world.setUp, REPO);
  return world.writes().length > 0 ? ['a rule was written without the leave of its owner'] : [];
}

/** A rule in which direct pushes were allowed by hand. */
async function peoplesChoice(): Promise<readonly string[]> {
  const world = await givenRepairWorld();
  await world.forge.setProtection({ directPushAllowed: true });
  await givenScheduled(world.forge, 'a');
  await world.pass(3 * TICK_MS);
  const tries = (await world.store.getRepo(REPO))?.repairs ?? [];
  return tries.length > 0 ? ['the service tried to undo a choice of a person'] : [];
}

/** Two functions put the same hook back at the same time. */
async function repairedTwice(): Promise<readonly string[]> {
  const world = await givenRepairWorld({ wakeupMode: 'webhook', hookId: 'abc' });
  world.afterLook = async () => {};
  await world.forge.setHooks([]);
  await world.clock.advance(HOUR_MS);
  await givenScheduled(world.forge, 'a');
  await world.pass(3 * TICK_MS);
  await Promise.all([repairSetup(world.setUp, REPO), repairSetup(world.setUp, REPO)]);
  const made = world.writes().length;
  return made === 1 ? [] : [`the hook was registered ${made} times`];
}

async function driftAtRest(drift: (world: RepairWorld) => Promise<void>): Promise<readonly string[]> {
  const world = await givenRepairWorld({ wakeupMode: 'webhook', hookId: 'abc', repairSetup: false });
  for (const name of ['a', 'b', 'c'])
    await world.forge.openPullRequest({ branch: name, files: { [`${name}.txt`]: name } });
  await world.pass(3 * TICK_MS);
  const from = world.looks.length;
  await drift(world);
  await world.pass(HOUR_MS + 4 * TICK_MS);
  const { drifts } = await world.told();
  const problems = drifts.length === 1 ? [] : ['a drift at rest was not noticed in time'];
  const isDear = world.looks.slice(from).some((calls) => calls > 4);
  return isDear ? [...problems, 'an idle look made more than four calls'] : problems;
}

/** A rule is edited, and a hook deleted, while nothing is scheduled. */
const ruleDriftAtRest = () => driftAtRest(removeContext);
const hookDriftAtRest = () => driftAtRest(({ forge }) => forge.setHooks([]));

export const REPAIR_SCENES = {
  'a person undoes each repair': undoneRepairs,
  'a rule is edited where repairs are not allowed': forbiddenRepair,
  'a person allows direct pushes': peoplesChoice,
  'two functions put a hook back': repairedTwice,
  'a rule is edited while nothing is scheduled': ruleDriftAtRest,
  'a hook is deleted while nothing is scheduled': hookDriftAtRest,
} satisfies Scenes;
