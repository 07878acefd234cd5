import * as z from 'zod';
import { GATE_LOG_BYTES_MAX, GATE_LOG_JOBS_MAX } from '#core/domain/api-limits.ts';
import { fromFirstLine, maskSecret, toPlainLog } from '#core/domain/forge/log-text.ts';
import { FORGE_PAGE_SIZE_MAX, FORGE_PAGES_MAX } from '#core/domain/limits.ts';
import type { ForgeLog, JobLog, RunLog } from '#core/ports/forge-log.ts';
import type { Secret } from '#core/secret.ts';
import { readRepoId } from '../repos.ts';
import { readBody } from '../wire/read-body.ts';
import { readLink } from '../wire/read-link.ts';
import { RunPage } from '../wire/schema.ts';
import type { ForgeTransport } from '../wire/transport.ts';
import { listJobs } from './run-jobs.ts';
import { readListLack, WITHOUT_PULLS } from './runs.ts';

const JobRow = z.object({
  id: z.number().int(),
  name: z.string().catch(''),
  status: z.string().catch(''),
  /** Result of a job that has ended, on Gitea. */
  conclusion: z.string().nullish(),
});
type JobRow = z.output<typeof JobRow>;

const FAILED: readonly string[] = ['failure', 'error'];

/** Reads logs, from Gitea 1.26 (1.25 for an owner) and Forgejo 16 on; older versions offer none. */
export function createForgeLog(transport: ForgeTransport, token: Secret<string>): ForgeLog {
  return {
    readRepoId: () => readRepoId(transport),
    async readRunLog(run) {
      const id = await findRun(transport, run);
      if (typeof id !== 'number') return { kind: id };
      const jobs = await listJobs(transport, id, JobRow);
      if (jobs === null) return { kind: 'not_offered' };
      const failed = jobs.filter((job) => FAILED.includes(resultOf(job)));
      const wanted = (failed.length > 0 ? failed : jobs).slice(0, GATE_LOG_JOBS_MAX);
      const logs: JobLog[] = [];
      for (const job of wanted) {
        const log = await readJob(transport, job, token);
        if (log === null) return { kind: 'not_offered' };
        logs.push(log);
      }
      return { kind: 'jobs', jobs: logs };
    },
  };
}

async function findRun(
  transport: ForgeTransport,
  { sha, url }: Parameters<ForgeLog['readRunLog']>[0],
): Promise<number | Exclude<RunLog['kind'], 'jobs'>> {
  const call = {
    method: 'GET',
    label: 'GET actions/runs',
    path: [...transport.repoPath, 'actions', 'runs'],
  } as const;
  let seen = 0;
  for (let page = 1; page <= FORGE_PAGES_MAX; page += 1) {
    const query = { head_sha: sha, ...WITHOUT_PULLS, page, limit: FORGE_PAGE_SIZE_MAX };
    const answer = await transport.exchange({ ...call, query });
    if ((await readListLack(transport, answer)) !== null) return 'not_offered';
    if (answer.status !== 200) throw transport.failure(call, answer);
    const { workflow_runs: rows, total_count: total } = readBody(RunPage, call, answer);
    const found = rows.find((row) => {
      const link = row === null ? null : readLink(transport, row.html_url);
      // The page of a run, or of one job of it.
      return link !== null && (url === link || url.startsWith(`${link}/`));
    });
    if (found) return found.id;
    seen += rows.length;
    if (rows.length === 0 || seen >= total) break;
  }
  return 'no_run';
}

function resultOf({ status, conclusion }: JobRow): string {
  return status === 'completed' ? (conclusion ?? status) : status;
}

/** Reads the log of a job; null: this version offers none. */
async function readJob(
  transport: ForgeTransport,
  job: JobRow,
  token: Secret<string>,
): Promise<JobLog | null> {
  const call = {
    method: 'GET',
    label: 'GET actions/jobs/{id}/logs',
    path: [...transport.repoPath, 'actions', 'jobs', String(job.id), 'logs'],
    tailBytes: GATE_LOG_BYTES_MAX,
  } as const;
  const answer = await transport.exchange(call);
  const { name } = job;
  const result = resultOf(job);
  // The forge's own 404 is about the log; any other is about the path.
  if (answer.status === 404 && !answer.isJson) return null;
  if (answer.status === 404) return { name, result, text: null, isCut: false };
  // No byte of an empty log can be asked for.
  if (answer.status === 416) return { name, result, text: '', isCut: false };
  if (answer.status !== 200 && answer.status !== 206) throw transport.failure(call, answer);
  const { text = '', isCut = false } = answer.tail ?? {};
  const whole = isCut ? fromFirstLine(text) : text;
  return {
    name,
    result,
    text: maskSecret(toPlainLog(maskSecret(whole, token.reveal())), token.reveal()),
    isCut,
  };
}
