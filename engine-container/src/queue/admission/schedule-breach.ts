import type { PullRequest } from '#core/domain/forge/forge.ts';
import { includesLogin, namesSchedulers, type ScheduleRules } from '#core/domain/repos/schedule-rules.ts';
import type { Reading } from '#core/domain/result.ts';
import type { ScheduleReading } from './readings.ts';
import type { ReviewCount } from './reviews.ts';

/** Reasons of the rules of a repository against a schedule. */
export type Breach =
  | 'scheduler_not_named'
  | 'team_hidden'
  | 'own_schedule'
  | 'bot_not_approved'
  | 'attempts_spent';

/** Is an account in one of the teams that may schedule? `hidden`: in none that the queue can see, and not all can be seen. */
export type TeamPlace = 'in' | 'out' | 'hidden';

export interface RuleFacts {
  readonly pull: Pick<PullRequest, 'author'>;
  /** Who scheduled; undefined when that is not known. */
  readonly scheduler?: string | undefined;
  /** Who may schedule; absent: all who may merge. */
  readonly rules?: ScheduleRules;
  /** Of the scheduler; absent: no rule asks for it. */
  readonly teamPlace?: Reading<TeamPlace> | undefined;
  /** This head was staged with as many schedules as the settings allow; absent: it was not. */
  readonly areAttemptsSpent?: boolean;
  readonly reviews: Reading<readonly ReviewCount[]> | null;
}

/** Do the rules of this repository ask for the reviews of a pull request that this account scheduled? */
export function asksApproval({ bots, botApproval }: ScheduleRules, schedule: ScheduleReading): boolean {
  if (!botApproval || schedule.kind === 'none') return false;
  return schedule.by === undefined || includesLogin(bots, schedule.by);
}

/** Accounts whose approvals are told apart: none while no rule asks for a person's. */
export function countedBots({ bots, botApproval }: ScheduleRules): readonly string[] {
  return botApproval ? bots : [];
}

/** May who scheduled do so, by the rules of this repository? Null: yes. Where it is not known who did, a rule waits for it. */
export function judgeRules(facts: RuleFacts): Breach | 'unknown' | null {
  const { rules, scheduler, pull } = facts;
  if (rules === undefined) return null;
  const asksWho = namesSchedulers(rules) || !rules.scheduleOwn || rules.botApproval;
  if (asksWho && scheduler === undefined) return 'unknown';
  if (scheduler !== undefined) {
    const unnamed = judgeNames(facts, rules, scheduler);
    if (unnamed !== null) return unnamed;
    if (!rules.scheduleOwn && includesLogin([pull.author], scheduler)) return 'own_schedule';
    const approval = judgeApproval(facts, rules, scheduler);
    if (approval !== null) return approval;
  }
  return facts.areAttemptsSpent === true ? 'attempts_spent' : null;
}

/** Do the rules ask the teams of the forge about this account? */
export function asksTeams(rules: ScheduleRules, login: string | undefined): login is string {
  return rules.scheduleTeams.length > 0 && login !== undefined && !includesLogin(rules.schedulePeople, login);
}

function judgeNames(
  { teamPlace }: RuleFacts,
  rules: ScheduleRules,
  scheduler: string,
): Breach | 'unknown' | null {
  if (!namesSchedulers(rules) || includesLogin(rules.schedulePeople, scheduler)) return null;
  if (rules.scheduleTeams.length === 0) return 'scheduler_not_named';
  if (teamPlace?.known !== true) return 'unknown';
  if (teamPlace.value === 'in') return null;
  return teamPlace.value === 'hidden' ? 'team_hidden' : 'scheduler_not_named';
}

/** An approval of a bot is not that of a person. */
export function judgeApproval(
  { reviews }: Pick<RuleFacts, 'reviews'>,
  { bots, botApproval }: ScheduleRules,
  scheduler: string,
): Breach | 'unknown' | null {
  if (!botApproval || !includesLogin(bots, scheduler)) return null;
  if (reviews === null || !reviews.known) return 'unknown';
  const isApproved = reviews.value.some(
    ({ state, onHead, byBot }) => state === 'approved' && onHead && byBot !== true,
  );
  return isApproved ? null : 'bot_not_approved';
}
