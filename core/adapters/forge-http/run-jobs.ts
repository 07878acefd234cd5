import * as z from 'zod';
import { RUNNER_LABEL_CHARS_MAX, RUNNER_LABELS_MAX } from '#core/domain/runner-labels.ts';
import { readBody } from './read-body.ts';
import type { ForgeTransport } from './transport.ts';

const Labels = z.array(z.string()).nullish().catch(null);
const JobRow = z.object({
  id: z.number().int(),
  name: z.string().catch(''),
  status: z.string().catch(''),
  /** Gitea, of a job that has ended. */
  conclusion: z.string().nullish(),
  /** Gitea. */
  labels: Labels,
  /** Forgejo. */
  runs_on: Labels,
});
export type JobRow = z.output<typeof JobRow>;
const JobRows = z.array(JobRow.nullable()).nullable();
/** Forgejo gives the rows alone, Gitea within an object. */
const Jobs = z.union([JobRows, z.object({ jobs: JobRows })]);

/** Jobs of a run, of Gitea 1.25 and newer and of Forgejo 16 and newer. Null: this version has no such list. */
export async function listJobs(transport: ForgeTransport, run: number): Promise<readonly JobRow[] | null> {
  const call = {
    method: 'GET',
    label: 'GET actions/runs/{id}/jobs',
    path: [...transport.repoPath, 'actions', 'runs', String(run), 'jobs'],
  } as const;
  const answer = await transport.exchange(call);
  if (answer.status === 404 || answer.status === 405) return null;
  if (answer.status !== 200) throw transport.failure(call, answer);
  const body = readBody(Jobs, call, answer);
  const rows = body === null || Array.isArray(body) ? body : body.jobs;
  return (rows ?? []).filter((row) => row !== null);
}

/** A job that a runner could take now: Gitea says `queued`, Forgejo `waiting`, which on Gitea waits for other jobs. */
const isWanting = ({ status, runs_on }: JobRow): boolean =>
  status === 'queued' || (status === 'waiting' && Array.isArray(runs_on));

/** Text of the workflow: a status, a page or a mail shows no control character of it. */
export async function readRunnerLabels(
  transport: ForgeTransport,
  runId: string,
): Promise<readonly string[] | null> {
  const run = Number(runId);
  const jobs = Number.isSafeInteger(run) ? await listJobs(transport, run) : null;
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
