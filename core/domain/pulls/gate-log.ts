import type { PullRequestNumber } from '../ids.ts';
import type { NodeRow } from '../queue/batch.ts';
import type { ManagedRepo } from '../repos/repo.ts';

export const NO_LOG_REASONS = ['no_gate_run', 'gate_by_statuses', 'not_offered', 'no_run'] as const;
/** Why there is a link at most, and no text. */
export type NoLogReason = (typeof NO_LOG_REASONS)[number];

export const NO_LOG_WORDS: Readonly<Record<NoLogReason, string>> = {
  no_gate_run: 'No gate run of this pull request is known.',
  gate_by_statuses: 'The gate of this repository is another CI: its own page has the log.',
  not_offered:
    'This version of the forge gives no log through its API (Gitea from 1.26, Forgejo from 16 on): its page of the run has the log.',
  no_run: 'The forge has no such run any more.',
};

/** The newest gate run of a pull request that was one of its own; `rows` newest first. Null: none is known. */
export function findGateRun(rows: readonly NodeRow[], pr: PullRequestNumber): NodeRow | null {
  return (
    rows.find(
      (row) =>
        row.prs.includes(pr) && row.gateSource === null && row.runUrl !== null && row.stagingSha !== null,
    ) ?? null
  );
}

export function isGateByStatuses({ gate }: Pick<ManagedRepo, 'gate'>): boolean {
  return gate === 'statuses';
}
