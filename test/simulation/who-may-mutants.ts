import type { Mutant } from './mutants.ts';

const WHO_MAY = 'engine-container/src/queue/who-may.ts';
const BREACH = 'engine-container/src/queue/schedule-breach.ts';

/** Guards of decisions 0225 and 0226: who may schedule, and how much of the queue one account may take. */
export const WHO_MAY_MUTANTS: readonly Mutant[] = [
  {
    guard: 'only accounts that the settings name may schedule',
    file: BREACH,
    find: "    if (rules.schedulePeople.length > 0 && !includesLogin(rules.schedulePeople, scheduler))\n      return 'scheduler_not_named';\n",
    replace: '',
    families: ['rules'],
    dies: 'an account that is not named schedules',
  },
  {
    guard: 'no author schedules a pull request of their own where the settings say so',
    file: BREACH,
    find: '!rules.scheduleOwn && includesLogin([pull.author], scheduler)',
    replace: "!rules.scheduleOwn && pull.author === ''",
    families: ['rules'],
    dies: 'an author schedules a pull request of their own',
  },
  {
    guard: 'what a bot schedules needs the approval of a person',
    file: BREACH,
    find: "return isApproved ? null : 'bot_not_approved';",
    replace: 'return isApproved ? null : null;',
    families: ['rules'],
    dies: 'a bot schedules without an approval',
  },
  {
    guard: 'the approval of a bot is not that of a person',
    file: BREACH,
    find: '&& byBot !== true',
    replace: '&& byBot !== null',
    families: ['rules'],
    dies: 'a bot approves what a bot schedules',
  },
  {
    guard: 'an author has no more places than the settings allow',
    file: WHO_MAY,
    find: "    if (isFull && mayRefuse) return refused('author_limit');\n",
    replace: '',
    families: ['rules'],
    dies: 'an author schedules more than the settings allow',
  },
  {
    guard: 'what is in flight keeps the place of its author',
    file: WHO_MAY,
    find: "admission.kind === 'refused' || this.#inFlight.has(pr)",
    replace: "admission.kind === 'refused'",
    families: ['rules'],
    dies: 'an author schedules more than the settings allow',
  },
  {
    guard: 'one head is tried no more often than the settings allow',
    file: WHO_MAY,
    find: 'known.times >= max && ',
    replace: 'known.times >= max + 9 && ',
    families: ['rules'],
    dies: 'a head that fails is scheduled again and again',
  },
  {
    guard: 'one that is set aside for itself takes no place of its author',
    file: 'engine-container/src/queue/entries.ts',
    find: 'if (isHeldForItself(pass, entry, base.value.tree)) {',
    replace: 'if (isSetAside(pass, entry)) {',
    families: ['rules'],
    dies: { family: 'rules', seed: 1_355_000_143 },
  },
  {
    guard: 'a push renews no schedule for an account that may not schedule',
    file: 'engine-container/src/read-renewals.ts',
    find: 'byPush.known && byPush.value && mayRenewIt(push.by)',
    replace: 'byPush.known && byPush.value',
    families: ['rules'],
    dies: 'an account that is not named pushes under a schedule',
  },
  {
    guard: 'an approval renews no schedule for an account that may not schedule',
    file: 'engine-container/src/read-renewals.ts',
    find: 'approvers.some(mayRenewIt)',
    replace: 'approvers.length > 0',
    families: ['rules'],
    dies: 'an account that is not named pushes under a schedule',
  },
  {
    guard: 'what a bot pushes under the schedule of a person needs the approval of a person',
    file: 'core/domain/schedule-rules.ts',
    find: 'return !botApproval || !includesLogin(bots, login);',
    replace: 'return !botApproval || !includesLogin(bots, login) || login.length > 0;',
    families: ['rules'],
    dies: 'a bot pushes under the schedule of a person',
  },
];
