import { APPROVE, BY_ITSELF, exit, type PullCode, scheduleBy, wait } from './pull-code-kinds.ts';

/** Ways out and waits by the rules about who may schedule, and how often. */
export const SCHEDULE_CODES = {
  scheduled_by_job: wait(
    'author',
    'refused: a workflow scheduled this with the token of its job, and the forge merges nothing in the name of a job',
    `${scheduleBy('a person who may merge')} A workflow can do both with the token of such an account.`,
  ),
  scheduler_not_named: wait(
    'operator',
    'refused: the settings of this queue list who may schedule, and the account that scheduled this is not on that list',
    scheduleBy('a person on that list'),
  ),
  team_hidden: wait(
    'operator',
    'refused: the queue cannot see who is in the teams that its settings name, so it cannot tell who may schedule',
    'Give the token of the bot the scope read:organization, and add the bot to each of those teams.',
  ),
  own_schedule: wait(
    'reviewer',
    'refused: in this queue an author does not schedule a pull request of their own; let another person schedule it',
    scheduleBy('another person'),
  ),
  bot_not_approved: wait(
    'reviewer',
    'refused: scheduled by a bot, which needs the official approval of a person on exactly this head',
    APPROVE,
  ),
  author_limit: wait(
    'none',
    'waiting: its author has as many pull requests in this queue as the settings allow; goes on once one of them has left',
    BY_ITSELF,
  ),
  attempts_spent: wait(
    'author',
    'refused: this head was tried as often as this queue allows without a change; push a change',
    'Push a change: the queue tries the new head.',
  ),
  verdict_known: exit(
    'author',
    'bounced: the gate fails with this head, which has not changed since; push a fix, or let a person schedule it again',
    'Push a fix, or let a person, not a bot, schedule it again.',
    true,
  ),
  retest_spent: exit(
    'author',
    'bounced: the gate failed again with this head on this base; push a fix, or schedule it again in an hour or after another landing',
    'Push a fix, or schedule it again in an hour, or once something else has landed.',
    true,
  ),
} as const satisfies Readonly<Record<string, PullCode>>;
