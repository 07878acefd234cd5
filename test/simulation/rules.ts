import type { CommitSha } from '#core/domain/ids.ts';
import { NO_RULES, type ScheduleRules } from '#core/domain/repos/schedule-rules.ts';
import type { QueueRecord } from '../../engine-container/src/queue/record/record.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import type { Managed } from './managed.ts';

/** The family of lives `rules`: who schedules there, by which rules, and the judge of both. */
export const AUTHORS = ['dev', 'ann', 'agent'] as const;
/** Authors of the family `one_author`: the one, and all others. */
export const CROWD_AUTHOR = 'agent';
export const FEW_AUTHORS = ['dev', 'ann', 'bob', 'eve'] as const;
export const SCHEDULERS = ['maintainer', 'ann', 'agent', 'other'] as const;

export const PUSHERS = ['dev', 'ann', 'agent', 'other', 'maintainer'] as const;
export const REVIEWERS = ['reviewer', 'maintainer', 'agent'] as const;

/** Members of the teams, as every forge of this family has them; the bot may not see the second. */
export const TEAMS = [
  ['release', ['Other', 'ann']],
  ['docs', null],
] as const;
const IN_TEAM = ['other', 'ann'];

export function chooseRules(random: SeededRandom, hasCrowd: boolean): ScheduleRules {
  if (hasCrowd) return { ...NO_RULES, bots: random.chance(0.5) ? [CROWD_AUTHOR] : [] };
  return {
    ...NO_RULES,
    schedulePeople: random.chance(0.5) ? ['maintainer', 'Ann', 'agent', 'dev'] : [],
    scheduleTeams: random.chance(0.3) ? ['Release', 'docs'] : [],
    scheduleOwn: random.chance(0.5),
    bots: ['Agent'],
    botApproval: random.chance(0.5),
    authorQueuedMax: random.pick([0, 1, 2]),
    botQueuedMax: random.pick([0, 1]),
    headAttemptsMax: random.pick([0, 1, 2]),
  };
}

const isOneOf = (logins: readonly string[], login: string): boolean =>
  logins.some((each) => each.toLowerCase() === login.toLowerCase());

/** Why the rules do not let the schedule of this pull request stand, told from the forge alone; null where they do. */
export function breachOf(
  { forge, project }: Pick<Managed, 'forge' | 'project'>,
  rules: ScheduleRules,
  pr: number,
  head: CommitSha,
): string | null {
  const by = forge.timelineOf(pr).findLast(({ kind }) => kind === 'scheduled')?.user ?? '';
  const isNamed = (login: string): boolean =>
    rules.schedulePeople.length + rules.scheduleTeams.length === 0 ||
    isOneOf(rules.schedulePeople, login) ||
    (rules.scheduleTeams.length > 0 && isOneOf(IN_TEAM, login));
  if (!isNamed(by)) return 'its scheduler is not named';
  if (!rules.scheduleOwn && isOneOf([project.authorOf(pr)], by)) return 'its author scheduled it';
  const mayAsk = (login: string): boolean =>
    isNamed(login) &&
    (rules.scheduleOwn || !isOneOf([project.authorOf(pr)], login)) &&
    !(rules.botApproval && isOneOf(rules.bots, login));
  const isByBot = rules.botApproval && isOneOf(rules.bots, by);
  const askers = project.heads.askersOf(head);
  if (!isByBot && !askers.some(mayAsk))
    return `asked for by ${askers.join(', ') || 'none'}, and by none who may schedule it`;
  if (!isByBot) return null;
  const isApproved = forge
    .reviewsOf(pr)
    .some(({ state, commit, user }) => state === 'approved' && commit === head && !isOneOf(rules.bots, user));
  return isApproved ? null : 'a bot scheduled it, and no person approved it';
}

/** More of one author in flight than the rules allow. */
export function listCrowding(
  { forge, project }: Managed,
  { bots, authorQueuedMax, botQueuedMax }: ScheduleRules,
  { batches }: Pick<QueueRecord, 'batches'>,
): readonly string[] {
  const counts = new Map<string, number>();
  for (const { pr } of batches.flatMap((batch) =>
    batch.members.slice(Math.max(batch.landed, batch.released), batch.limit),
  )) {
    const author = project.authorOf(pr);
    if (!forge.isMerged(pr)) counts.set(author, (counts.get(author) ?? 0) + 1);
  }
  return [...counts].flatMap(([author, count]) => {
    const max = isOneOf(bots, author) ? botQueuedMax : authorQueuedMax;
    return max > 0 && count > max ? [`${count} of ${author} are in flight, and ${max} may be`] : [];
  });
}
