import * as z from 'zod';
import { RUNNER_LABEL_CHARS_MAX, RUNNER_LABELS_MAX } from '#core/domain/forge/runner-labels.ts';
import { readBody } from '../wire/read-body.ts';
import type { ForgeTransport } from '../wire/transport.ts';

const Labels = z.array(z.string()).nullish().catch(null);
const WantingRow = z.object({
  status: z.string().catch(''),
  /** Labels on Gitea. */
  labels: Labels,
  /** Labels on Forgejo. */
  runs_on: Labels,
});

/** Jobs of a run, of Gitea 1.25 and newer and of Forgejo 16 and newer. Null: this version has no such list. */
export async function listJobs<Row>(
  transport: ForgeTransport,
  run: number,
  row: z.ZodType<Row>,
): Promise<readonly Row[] | null> {
  const rowsOf = z.array(row.nullable()).nullable();
  const call = {
    method: 'GET',
    label: 'GET actions/runs/{id}/jobs',
    path: [...transport.repoPath, 'actions', 'runs', String(run), 'jobs'],
  } as const;
  const answer = await transport.exchange(call);
  if (answer.status === 404 || answer.status === 405) return null;
  if (answer.status !== 200) throw transport.failure(call, answer);
  // Forgejo gives the rows alone, Gitea within an object.
  const body = readBody(z.union([rowsOf, z.object({ jobs: rowsOf })]), call, answer);
  const rows = body === null || Array.isArray(body) ? body : body.jobs;
  return (rows ?? []).filter((each) => each !== null);
}

/**
 * Whether a job waits for a runner: `queued` on Gitea and `waiting` on Forgejo; on Gitea, `waiting` is a job that waits
 * for others.
 */
const isWanting = ({ status, runs_on }: z.output<typeof WantingRow>): boolean =>
  status === 'queued' || (status === 'waiting' && Array.isArray(runs_on));

/**
 * Labels that the waiting jobs ask for, without control characters, because they are text of the workflow and are shown
 * in statuses, pages and mails.
 */
export async function readRunnerLabels(
  transport: ForgeTransport,
  runId: string,
): Promise<readonly string[] | null> {
  const run = Number(runId);
  const jobs = Number.isSafeInteger(run) ? await listJobs(transport, run, WantingRow) : null;
  const wanting = jobs?.find(isWanting);
  const labels = (wanting?.labels ?? wanting?.runs_on ?? [])
    .map((label) =>
      label
        .slice(0, RUNNER_LABEL_CHARS_MAX)
        .replace(/[^ -~]/g, '?')
        .trim(),
    )
    .filter((label) => label !== '');
  return labels.length === 0 ? null : labels.slice(0, RUNNER_LABELS_MAX);
}
