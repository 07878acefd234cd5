import type { Family } from './families.ts';
import { NO_ODDS, type Trouble } from './odds.ts';
import { type Limits, simulate } from './simulate.ts';

const PULLS_TRIED = [1, 2, 3, 4, 6, 8];
const HOURS_TRIED = [1, 2, 3];

/** The smallest life of this seed that still goes wrong: fewer pull requests, fewer troubles, less time. */
export async function shrink(seed: number, family: Family): Promise<Limits> {
  const fails = async (limits: Limits): Promise<boolean> =>
    (await simulate(seed, family, limits)).violations.length > 0;
  let limits: Limits = {};
  for (const trouble of Object.keys(NO_ODDS) as Trouble[]) {
    const without = [...(limits.without ?? []), trouble];
    if (await fails({ ...limits, without })) limits = { ...limits, without };
  }
  for (const pulls of PULLS_TRIED) {
    if (!(await fails({ ...limits, pulls }))) continue;
    limits = { ...limits, pulls };
    break;
  }
  for (const hours of HOURS_TRIED) {
    if (!(await fails({ ...limits, hours }))) continue;
    limits = { ...limits, hours };
    break;
  }
  return limits;
}
