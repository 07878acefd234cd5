import type { BranchProtection } from '#core/domain/forge/forge.ts';
import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import { ForgeError } from '#core/ports/forge.ts';
import type { ForgePerson } from '#core/ports/forge-person.ts';
import { BOT } from '../support/scripted-accounts.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import { ANY_HEAD, pick } from './values.ts';

const RULE: BranchProtection = {
  scope: 'full',
  ruleName: 'main',
  statusCheckEnabled: true,
  requiredContexts: [DEFAULT_SERVICE_NAME],
  requiredApprovals: 0,
  blockOnRejectedReviews: false,
  blockOnOfficialReviewRequests: false,
  blockOnOutdatedBranch: false,
  ignoreStaleApprovals: false,
  dismissStaleApprovals: false,
  directPushAllowed: false,
};

/** A forge under a person's own token, in one of the states that a call may meet. */
export function anyPerson(random: SeededRandom): ForgePerson {
  const tell = async <T>(value: T): Promise<T> => {
    if (random.chance(0.1))
      throw new ForgeError(pick(random, ['denied', 'missing', 'unreachable']), 'x', null);
    return value;
  };
  return {
    readRepoId: () => tell(1),
    readAccount: () =>
      tell({ login: pick(random, ['dev', 'dev', 'dev', BOT.toUpperCase()]), isJob: random.chance(0.1) }),
    readPull: () =>
      tell({
        state: random.chance(0.9) ? 'open' : 'closed',
        merged: random.chance(0.1),
        headSha: random.chance(0.9) ? ANY_HEAD : 'b'.repeat(40),
        baseRef: random.chance(0.9) ? 'main' : 'other',
        mergeable: random.chance(0.9),
      }),
    readProtection: () => tell(random.chance(0.9) ? RULE : null),
    schedule: () => tell(pick(random, ['scheduled', 'already', 'refused'])),
    cancel: () => tell(pick(random, ['cancelled', 'not_scheduled'])),
  };
}
