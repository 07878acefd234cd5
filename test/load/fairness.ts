import { WORKERS_MAX } from '#core/domain/limits.ts';
import { CrowdWorld, DEAD_MS, type Kind } from '../support/crowd-world.ts';
import { percentile, type Row } from './row.ts';

const MINUTE_MS = 60_000;
const MEDIAN_WAIT_MS_MAX = 1_000;
const NEW_WAIT_MS_MAX = MINUTE_MS;

const honest: Kind = { name: 'honest', count: 50, workMs: 1_000, outcome: 'ok', eventEveryMs: 30_000 };
/** Each wakes itself as often as events can. */
const dead: Kind = {
  ...honest,
  name: 'dead',
  count: 100,
  workMs: DEAD_MS,
  outcome: 'timeout',
  eventEveryMs: 5_000,
};

/** Their looks come to something, and take as long as a slow forge makes them. */
const slow: Kind = { ...honest, name: 'slow', count: 100, workMs: 9_000, eventEveryMs: 5_000 };

const fresh: Kind = { ...honest, name: 'fresh', count: 6 };

/** A hundred accounts with dead forges come to fifty honest ones; half an hour later six new ones come too. */
export async function deadForges(): Promise<Row> {
  const world = new CrowdWorld(WORKERS_MAX);
  await world.enroll(honest);
  await world.run(0, 10 * MINUTE_MS);
  await world.enroll(dead);
  await world.run(MINUTE_MS, 30 * MINUTE_MS);
  await world.enroll(fresh);
  await world.run(0, 5 * MINUTE_MS);
  const waits = world.waitsMs.get(honest.name) ?? [];
  const median = percentile(waits, 0.5);
  const longest = Math.max(...waits);
  const firsts = world.firstWaitsMs.get(fresh.name) ?? [];
  const held = world.heldMost.get(dead.name) ?? 0;
  const looks = world.waitsMs.get(dead.name)?.length ?? 0;
  return {
    row: `${dead.count} accounts with dead forges beside ${honest.count} honest ones, ${WORKERS_MAX} workers`,
    goal: `half of the workers are left to others: an honest wake waits ${MEDIAN_WAIT_MS_MAX} ms at most at the median, a new repository ${NEW_WAIT_MS_MAX} ms at most`,
    measured: `dead forges held ${held} workers at most in ${looks} looks; ${waits.length} honest wakes waited ${median} ms at the median, ${longest} ms at most; ${firsts.length} of ${fresh.count} new repositories waited ${Math.max(...firsts)} ms at most`,
    ok:
      held <= WORKERS_MAX / 2 &&
      waits.length > honest.count * 30 &&
      median <= MEDIAN_WAIT_MS_MAX &&
      firsts.length === fresh.count &&
      Math.max(...firsts) <= NEW_WAIT_MS_MAX,
  };
}

/** The same with forges that answer, slowly. */
export async function slowForges(): Promise<Row> {
  const world = new CrowdWorld(WORKERS_MAX);
  await world.enroll(honest);
  await world.run(0, 10 * MINUTE_MS);
  await world.enroll(slow);
  await world.run(MINUTE_MS, 30 * MINUTE_MS);
  const waits = world.waitsMs.get(honest.name) ?? [];
  const [median, late] = [percentile(waits, 0.5), percentile(waits, 0.95)];
  const looks = world.waitsMs.get(slow.name)?.length ?? 0;
  return {
    row: `${slow.count} accounts with slow and right forges beside ${honest.count} honest ones, ${WORKERS_MAX} workers`,
    goal: `an honest wake waits ${MEDIAN_WAIT_MS_MAX} ms at most at the median and ${NEW_WAIT_MS_MAX} ms at most at the 95th percentile`,
    measured: `slow forges held ${world.heldMost.get(slow.name) ?? 0} workers at most in ${looks} looks; ${waits.length} honest wakes waited ${median} ms at the median, ${late} ms at the 95th percentile`,
    ok: waits.length > honest.count * 30 && median <= MEDIAN_WAIT_MS_MAX && late <= NEW_WAIT_MS_MAX,
  };
}
