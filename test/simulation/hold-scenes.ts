import { WIND_DOWN_MS } from '#core/domain/limits.ts';
import { givenPostedSuccess, leaveTenant, stopPaying } from '../scenario/queue-world.ts';

/** Nobody pays any more while a success stands: it is taken back before the repo is left alone (A24, A107). */
export async function holdInLanding(): Promise<readonly string[]> {
  const { world, pr } = await givenPostedSuccess();
  await stopPaying(world);
  await world.pass(WIND_DOWN_MS);
  return (await world.stateOf(pr)) === 'success' ? ['a success stands on a head that nobody pays for'] : [];
}

/** The tenant leaves while a success stands: it is taken back before the rows go that would know of it (A24, A100). */
export async function leaveInLanding(): Promise<readonly string[]> {
  const { world, pr } = await givenPostedSuccess();
  await leaveTenant(world);
  await world.pass(WIND_DOWN_MS);
  return (await world.stateOf(pr)) === 'success' ? ['a success stands on a head whose tenant is gone'] : [];
}
