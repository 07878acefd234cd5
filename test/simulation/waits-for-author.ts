import type { PullRequest } from '#core/domain/forge/forge.ts';
import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import type { Managed } from './managed.ts';
import { breachOf } from './rules.ts';

export type Subject = Pick<Managed, 'forge' | 'project' | 'contexts' | 'rules'>;

const isApprovedAsIs = ({ forge }: Subject, { number, headSha }: PullRequest): boolean =>
  forge
    .reviewsOf(number)
    .some(
      ({ state, official, dismissed, commit }) =>
        state === 'approved' && official && !dismissed && commit === headSha,
    );

/** Whether something of this kind came after the schedule that stands. */
function hasSinceSchedule(
  { forge }: Subject,
  { number }: PullRequest,
  kind: 'pushed' | 'retargeted' | 'reopened',
): boolean {
  const told = forge.timelineOf(number);
  return told
    .slice(told.findLastIndex((entry) => entry.kind === 'scheduled') + 1)
    .some((entry) => entry.kind === kind);
}

const breaksRules = ({ forge, project, rules }: Subject, { number, headSha }: PullRequest): boolean =>
  rules !== undefined && breachOf({ forge, project }, rules, number, headSha) !== null;

const isPushed = (subject: Subject, pull: PullRequest): boolean => hasSinceSchedule(subject, pull, 'pushed');

/** Beginnings of the words on a head that waits for its author, and whether the forge agrees that it has to. */
const WAITS: readonly (readonly [
  phrase: string,
  isTrue: (subject: Subject, pull: PullRequest) => boolean | Promise<boolean>,
])[] = [
  ['requeued: head changed by a push', isPushed],
  ['requeued: head changed by an account that may not schedule here', isPushed],
  [
    'requeued: head changed, and the forge does not show by whose push',
    // While it is closed a forge writes no entry of a push.
    (subject, pull) => isPushed(subject, pull) || hasSinceSchedule(subject, pull, 'reopened'),
  ],
  ['requeued: head changed from outside', isPushed],
  [
    'waiting: its schedule is from when it targeted another branch',
    (subject, pull) => hasSinceSchedule(subject, pull, 'retargeted'),
  ],
  [
    'refused: branch is out of date',
    ({ forge }, { headSha }) => !forge.mergeBases(forge.tipOfBase(), headSha).includes(forge.tipOfBase()),
  ],
  [
    'refused: its branch is gone',
    async ({ forge }, { headRef }) => !(await forge.branches()).includes(headRef),
  ],
  ['refused: a pull request from a fork', (subject, pull) => pull.fromFork && !isApprovedAsIs(subject, pull)],
  [
    'refused: pushed to refs/for, so that it needs',
    (subject, pull) => pull.agit && !isApprovedAsIs(subject, pull),
  ],
  [PULL_CODES.fork_scheduler.says, (_subject, { fromFork }) => fromFork],
  ['refused: the settings of this queue list who may schedule', breaksRules],
  [
    'refused: the queue cannot see who is in the teams',
    ({ rules }) => (rules?.scheduleTeams.length ?? 0) > 0,
  ],
  ['refused: in this queue an author does not schedule', breaksRules],
  ['refused: scheduled by a bot', breaksRules],
  ['refused: this head was tried as often', ({ rules }) => (rules?.headAttemptsMax ?? 0) > 0],
];

/** Whether these words on its head say why a pull request waits for its author, and the forge agrees. */
export async function isWaitForAuthor(subject: Subject, pull: PullRequest, words: string): Promise<boolean> {
  const [, isTrue] = WAITS.find(([phrase]) => words.startsWith(phrase)) ?? [];
  return isTrue !== undefined && (await isTrue(subject, pull));
}
