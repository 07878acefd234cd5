import type { InputFor, ResultOf } from '#core/contracts/routes/client.ts';
import { contextForBase } from '#core/domain/queue/queue-names.ts';
import type { MergeStyle } from '#core/domain/repos/merge-style.ts';
import {
  EMPTY_DRAFT,
  isFilled,
  NOTIFICATION_FAULTS,
  type NotificationDraft,
  toNotification,
} from './notification.ts';

export type Found = ResultOf<'discoverRepos'>['repos'][number];
export type Enrollment = InputFor<'enrollRepo'>['body'];

/** The values that are settled for one repository when it is added; it cannot be changed afterwards. */
export interface Choice {
  readonly baseBranch: string;
  readonly mergeStyle: MergeStyle;
}

/** The values that are the same for all that are added together. */
export type EnrollmentOptions = NotificationDraft & {
  readonly wakeup: 'poll' | 'webhook';
  /** Empty: the service's own. */
  readonly context: string;
  /** The context ends in the name of the base branch: a commit may then head pull requests to several. */
  readonly perBranch: boolean;
  readonly automerge: boolean;
};

export const DEFAULT_OPTIONS: EnrollmentOptions = {
  wakeup: 'webhook',
  context: '',
  perBranch: false,
  automerge: false,
  ...EMPTY_DRAFT,
};

export const STYLE_NAMES: Readonly<Record<MergeStyle, string>> = {
  merge: 'Merge commit',
  squash: 'Squash',
  rebase: 'Rebase',
};
const STYLES: readonly MergeStyle[] = ['merge', 'squash', 'rebase'];

/** Styles that a person may choose: what the repository allows, or all where the forge does not say. */
export function stylesOf(found: Found): readonly MergeStyle[] {
  const allowed = STYLES.filter((style) => found.merge_styles?.includes(style) !== false);
  return allowed.length === 0 ? STYLES : allowed;
}

/** As the forge itself would do it. */
export function defaultChoice(found: Found): Choice {
  const styles = stylesOf(found);
  const wanted = [found.default_merge_style, 'squash', styles[0]] as const;
  const mergeStyle = wanted.find((style) => style != null && styles.includes(style)) ?? 'squash';
  return { baseBranch: found.default_branch, mergeStyle };
}

export function enrollmentOf(
  connectionId: string,
  found: Found,
  choice: Choice,
  options: EnrollmentOptions,
  queueName: string | null,
): Enrollment {
  const baseBranch = choice.baseBranch.trim();
  const own = options.context.trim();
  const name = own === '' ? queueName : own;
  const context = options.perBranch && name !== null ? contextForBase(name, baseBranch) : own;
  return {
    connection_id: connectionId,
    repo_slug: found.full_name,
    base_branch: baseBranch,
    merge_style: choice.mergeStyle,
    automerge: options.automerge,
    wakeup_mode: options.wakeup,
    ...(context === '' ? {} : { status_context: context }),
    ...(isFilled(options) ? { notification: toNotification(options) } : {}),
  };
}

/** The faults of the fields of an enrollment, in words, by the names that the service gives them. */
export const ENROLLMENT_FAULTS: Readonly<Record<string, string>> = {
  repo_slug: 'The bot does not see a repository of this name.',
  base_branch: 'The base branch is not on the forge, or its name cannot be taken.',
  status_context: 'The status context has characters that are not allowed.',
  ...NOTIFICATION_FAULTS,
};
