/** Who may schedule, and how much of the queue one account may take. Logins are compared without case. */
export interface ScheduleRules {
  /** Only these, and those in `scheduleTeams`, may schedule; both empty: all who may merge. */
  readonly schedulePeople: readonly string[];
  /** Teams of the organization that owns the repository, by name; compared without case. */
  readonly scheduleTeams: readonly string[];
  /** May an author schedule a pull request of their own? */
  readonly scheduleOwn: boolean;
  /** Accounts that are programs. */
  readonly bots: readonly string[];
  /** Does a schedule by one of `bots` need the official approval of a person on exactly that head? */
  readonly botApproval: boolean;
  /** Pull requests of one author in the queue at once; 0: no limit. */
  readonly authorQueuedMax: number;
  /** The same for each of `bots`. */
  readonly botQueuedMax: number;
  /** Schedules with which one head is staged; 0: no limit. */
  readonly headAttemptsMax: number;
}

/** Rules that ask nothing of a forge and refuse no pull request. */
export const NO_RULES: ScheduleRules = {
  schedulePeople: [],
  scheduleTeams: [],
  scheduleOwn: true,
  bots: [],
  botApproval: false,
  authorQueuedMax: 0,
  botQueuedMax: 0,
  headAttemptsMax: 0,
};

export function includesLogin(logins: readonly string[], login: string): boolean {
  return logins.some((each) => each.toLowerCase() === login.toLowerCase());
}

/** Do the settings name who may schedule? */
export function namesSchedulers({ schedulePeople, scheduleTeams }: ScheduleRules): boolean {
  return schedulePeople.length + scheduleTeams.length > 0;
}

/**
 * May a push or an approval by this account stand for the schedule of a head, by the rules about who may schedule? Else the
 * account would land what the one who scheduled never saw. `inTeam`: is the account in one of `scheduleTeams`?
 */
export function mayRenew(
  rules: ScheduleRules,
  author: string,
  { login, inTeam }: { readonly login: string; readonly inTeam: boolean },
): boolean {
  const { schedulePeople, scheduleOwn, bots, botApproval } = rules;
  if (namesSchedulers(rules) && !inTeam && !includesLogin(schedulePeople, login)) return false;
  if (!scheduleOwn && includesLogin([author], login)) return false;
  return !botApproval || !includesLogin(bots, login);
}

/** How many pull requests of this author may be in the queue at once; 0: no limit. */
export function queuedMaxOf({ bots, authorQueuedMax, botQueuedMax }: ScheduleRules, author: string): number {
  return includesLogin(bots, author) ? botQueuedMax : authorQueuedMax;
}
