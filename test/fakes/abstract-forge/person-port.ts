import { ForgeError } from '#core/ports/forge.ts';
import type { ForgePerson } from '#core/ports/forge-person.ts';
import { conflictStateOf, isDraft } from './checks.ts';
import { cancelPullSchedule, schedulePull } from './people.ts';
import { JOB_ACCOUNTS, mayWrite } from './rights.ts';
import { ruleOf } from './rules.ts';
import { viewPull } from './views.ts';
import type { Pull, World } from './world.ts';

/** The forge as the token of `login` sees it. Who may only read schedules nothing and cancels nothing. */
export function createPersonPort(world: World, login: string): ForgePerson {
  const pullOf = (pr: number): Pull => {
    const pull = world.pulls.get(pr);
    if (pull === undefined) throw new ForgeError('missing', 'pulls/{n}', 404);
    return pull;
  };
  return {
    readRepoId: async () => world.repoId,
    readAccount: async () => ({ login, isJob: JOB_ACCOUNTS.has(login) }),
    readPull: async (pr) => viewPull(world, pullOf(pr)),
    readProtection: async (base) => ruleOf(world, base),
    schedule: async (pr, style) => {
      const pull = pullOf(pr);
      if (pull.state !== 'open') throw new ForgeError('missing', 'POST pulls/{n}/merge', 404);
      const state = conflictStateOf(world, pull);
      if (!mayWrite(world, login) || isDraft(pull) || state === 'conflict' || state === 'ancestor')
        return 'refused';
      if (pull.schedule !== null) return 'already';
      schedulePull(world, pull, style, login);
      return 'scheduled';
    },
    cancel: async (pr) => {
      const pull = pullOf(pr);
      if (pull.schedule === null) return 'not_scheduled';
      if (!mayWrite(world, login) && pull.schedule.doer !== login)
        throw new ForgeError('denied', 'DELETE pulls/{n}/merge', 403);
      cancelPullSchedule(world, pull, login);
      return 'cancelled';
    },
  };
}
