import type { z } from 'zod';
import { branchRef, type GateReading } from '#core/domain/forge/forge.ts';
import { type ForgeVersion, listsRuns, listsRunsForOwners } from '#core/domain/forge/forge-version.ts';
import type { CommitSha } from '#core/domain/ids.ts';
import { FORGE_PAGE_SIZE_MAX, FORGE_PAGES_MAX } from '#core/domain/limits.ts';
import { ForgeError, isVersionHidden } from '#core/ports/forge.ts';
import { assertRepoReadable } from '../branches.ts';
import { readVersion } from '../repos.ts';
import { isBoundedJson } from '../wire/answer-limits.ts';
import { readBody } from '../wire/read-body.ts';
import { readLink } from '../wire/read-link.ts';
import { PushPayload, RunPage, type RunRow } from '../wire/schema.ts';
import type { ForgeAnswer, ForgeCall, ForgeTransport } from '../wire/transport.ts';

/** Identity of the run that is evidence: exactly this commit, on this branch, of this workflow file (A12). */
export interface GateQuery {
  readonly sha: CommitSha;
  readonly branch: string;
  /** Base name of the workflow file; the run lists never carry its folder. */
  readonly file: string;
  /** Login of the account whose pushes alone begin a run that counts; absent: any account's do. */
  readonly readStarter?: () => Promise<string>;
}

type Runs = z.infer<typeof RunPage>;
type Verdict = Extract<GateReading, { kind: 'finished' }>['verdict'];

const NO_RESULT = 'unknown';

/**
 * Verdicts by the result of a run; every other word counts as still running (A11). A gate of which no job ran has
 * proven nothing. A run without jobs is `unknown` on Forgejo, and completed without a conclusion on Gitea; both store a
 * run with its jobs in one transaction, so no other run ever has these results.
 */
const VERDICTS: ReadonlyMap<string, Verdict> = new Map([
  ['success', 'success'],
  ['failure', 'failure'],
  ['cancelled', 'cancelled'],
  ['error', 'error'],
  ['skipped', 'error'],
  [NO_RESULT, 'error'],
]);

/** Runs of a commit that are read one by one, which takes a call each. */
const RUNS_READ_SINGLY_MAX = 50;
/** Where the forge shows none of so many, it fails as a whole. */
const RUNS_HIDDEN_AT_FIRST_MAX = 10;

const NO_JOB_RAN: readonly string[] = ['skipped', NO_RESULT];

/**
 * States of a run before a runner takes it: `waiting` on Forgejo, `queued` on Gitea. Jobs that wait for others are
 * `blocked` on Forgejo and `waiting` on Gitea.
 */
const WAITING: readonly string[] = ['waiting', 'queued', 'blocked'];

/**
 * Gitea from 1.27 on tells with each run of a push the open pull requests whose head is its branch. Every account that may read can
 * open one to each other branch, so a run of a staging branch might fill an answer.
 */
export const WITHOUT_PULLS = { exclude_pull_requests: 'true' } as const;

/**
 * Newest matching run in the list of all runs; `no_list` where this version has none (Forgejo before 12, Gitea before 1.25), or shows it
 * to owners alone (Gitea 1.25). `actions_off`: it has one, and shows none of this repository now. `may_be_scoped`: this forge also runs
 * the workflows of other repositories here (Gitea 1.27, scoped workflows), and lists such a run like one of a file of this repository
 * with the same name.
 */
export async function readNewestRun(
  transport: ForgeTransport,
  gate: GateQuery,
): Promise<GateReading | ListLack | 'may_be_scoped'> {
  const path = [...transport.repoPath, 'actions', 'runs'];
  const call = { method: 'GET', label: 'GET actions/runs', path } as const;
  const newest = await findNewest(transport, gate, call, (answer) => readListLack(transport, answer));
  if (newest === 'no_list' || newest === 'actions_off') return newest;
  const isRow = newest !== null && newest !== 'of_others';
  return isRow && hasScopedRuns(newest) ? 'may_be_scoped' : describeRun(transport, newest);
}

type ListLack = 'no_list' | 'actions_off';

/**
 * Why an answer shows no list of runs; null: it says no such thing. A forge answers an unknown route with a page, and so does a proxy
 * whose forge starts anew: then the version decides, because the statuses do not tell all that the list does (forge facts, 8). It also
 * tells the refusal of a version that shows the list to owners alone from that of one that hides Actions from the bot.
 */
export async function readListLack(
  transport: ForgeTransport,
  { status, isJson }: ForgeAnswer,
): Promise<ListLack | null> {
  const mayLack = status === 404 || status === 405 || (status === 403 && isJson);
  if (!mayLack) return null;
  const version = await readKnownVersion(transport);
  if (status === 403) return listsRunsForOwners(version) ? 'no_list' : null;
  if (!listsRuns(version)) return 'no_list';
  return isJson ? 'actions_off' : null;
}

async function readKnownVersion(transport: ForgeTransport): Promise<ForgeVersion | null> {
  try {
    return await readVersion(transport);
  } catch (error) {
    if (error instanceof ForgeError && isVersionHidden(error)) return null;
    throw error;
  }
}

/** Newest matching run of the workflow file in this repository alone (Gitea 1.27 and newer). */
export async function readNewestOwnRun(transport: ForgeTransport, gate: GateQuery): Promise<GateReading> {
  const path = [...transport.repoPath, 'actions', 'workflows', gate.file, 'runs'];
  const call = { method: 'GET', label: 'GET actions/workflows/{file}/runs', path } as const;
  const newest = await findNewest(transport, gate, call, ({ status, isJson }) =>
    status === 404 && isJson ? 'no_list' : null,
  );
  if (newest !== 'no_list') return describeRun(transport, newest);
  await assertRepoReadable(transport);
  // It has never run, and the default branch does not have it.
  return { kind: 'none' };
}

/**
 * Newest matching run of a list; null: there is none; `of_others`: none that counts. Or why the answer shows no such list, by
 * `readLack`. Filters of every version are sent at once, because a version ignores those it does not know, and are applied
 * again to the rows.
 */
async function findNewest<Lack extends string>(
  transport: ForgeTransport,
  gate: GateQuery,
  call: ForgeCall,
  readLack: (answer: ForgeAnswer) => Lack | null | Promise<Lack | null>,
): Promise<RunRow | null | 'of_others' | Lack> {
  const filters = {
    head_sha: gate.sha,
    event: 'push',
    // Forgejo 15 and newer.
    ref: branchRef(gate.branch),
    workflow_id: gate.file,
    // Gitea.
    branch: gate.branch,
    ...WITHOUT_PULLS,
  };
  const found: RunRow[] = [];
  let seen = 0;
  for (let page = 1; page <= FORGE_PAGES_MAX; page += 1) {
    const query = { ...filters, page, limit: FORGE_PAGE_SIZE_MAX };
    const answer = await transport.exchange({ ...call, query });
    const lack = await readLack(answer);
    if (lack !== null) return lack;
    if (isHidden(answer) && gate.readStarter !== undefined)
      return pickNewest(await listSingly(transport, { ...call, query: filters }, gate), gate);
    const body = readPage(transport, call, answer);
    seen += body.workflow_runs.length;
    // Before Forgejo 15 the rows have no promised order.
    found.push(...evidenceOf(body, gate));
    if (body.workflow_runs.length === 0 || seen >= body.total_count) return pickNewest(found, gate);
  }
  throw new ForgeError('unreachable', call.label, null);
}

/** The forge's own 500: it cannot show a run of this page, or it fails as a whole. */
function isHidden({ status, isJson }: ForgeAnswer): boolean {
  return status === 500 && isJson;
}

function readPage(transport: ForgeTransport, call: ForgeCall, answer: ForgeAnswer): Runs {
  if (answer.status !== 200) throw transport.failure(call, answer);
  return readBody(RunPage, call, answer);
}

function evidenceOf({ workflow_runs: rows }: Runs, gate: GateQuery): RunRow[] {
  return rows.filter((row): row is RunRow => row !== null && isEvidence(row, gate));
}

/**
 * Matching runs, a call for each run of the commit. Forgejo 12 to 14 and Gitea 1.25 fail on each page with a run of an account that was
 * deleted (forge facts, 8), and each account that may write can push a staged commit to another branch and be deleted then. Such a run
 * is left out, so this is for a gate of which the runs of one account alone count: that of the queue, which is there.
 */
async function listSingly(transport: ForgeTransport, call: ForgeCall, gate: GateQuery): Promise<RunRow[]> {
  const found: RunRow[] = [];
  let hidden = 0;
  for (let page = 1; page <= RUNS_READ_SINGLY_MAX; page += 1) {
    const answer = await transport.exchange({ ...call, query: { ...call.query, page, limit: 1 } });
    if (isHidden(answer)) {
      hidden += 1;
      if (hidden === page && page === RUNS_HIDDEN_AT_FIRST_MAX) throw transport.failure(call, answer);
      continue;
    }
    const body = readPage(transport, call, answer);
    if (body.workflow_runs.length === 0) return found;
    found.push(...evidenceOf(body, gate));
  }
  throw new ForgeError('unreachable', call.label, null);
}

/**
 * The newest run that counts. A push of a branch tells its workflow what the branch was before, and who pushed: by a push to and fro
 * each account that may write could begin a run of a staged commit whose gate finds nothing changed, and passes (decision 0349).
 */
async function pickNewest(
  found: readonly RunRow[],
  { readStarter }: GateQuery,
): Promise<RunRow | null | 'of_others'> {
  const sorted = found.toSorted((a, b) => b.id - a.id);
  const [newest = null] = sorted;
  const isPlain = sorted.length < 2 && verdictOf(newest) === undefined;
  if (newest === null || readStarter === undefined || isPlain) return newest;
  const starter = await readStarter();
  return sorted.find((row) => (starterOf(row) ?? starter) === starter) ?? 'of_others';
}

/** Account that began the run, also where another one has repeated it; null: the forge does not say. */
function starterOf({ trigger_user: onForgejo, actor: onGitea }: RunRow): string | null {
  return (onForgejo ?? onGitea)?.login ?? null;
}

/**
 * Whether this version has scoped workflows: the first that has them is also the first with this field, and never
 * leaves it out.
 */
function hasScopedRuns({ previous_attempt_url }: RunRow): boolean {
  return previous_attempt_url !== undefined;
}

function isEvidence(row: RunRow, gate: GateQuery): boolean {
  const sha = row.commit_sha ?? row.head_sha;
  const branch = row.prettyref ?? row.head_branch;
  const file = row.workflow_id ?? workflowOfPath(row.path ?? '', gate);
  // Forgejo calls a run of a schedule `push` in `event`, and lists it for the branch and the commit that it read.
  const isPush = row.event === 'push' && (row.trigger_event ?? 'push') === 'push';
  const isOfGate = sha === gate.sha && branch === gate.branch && file === gate.file && isPush;
  return isOfGate && !isOfOtherRef(row, gate);
}

/**
 * Whether the run is of a tag. `prettyref` does not tell a tag from a branch of the same name, Forgejo before 15 has no filter
 * for it, and every account that may write can give a staged commit such a tag.
 */
function isOfOtherRef({ event_payload: payload }: RunRow, { branch }: GateQuery): boolean {
  const ref = readPayloadRef(payload ?? '');
  return ref !== null && ref !== branchRef(branch);
}

/** Begin of the payload of a push, whose first field is the full name of its branch or tag. The rest of a long one is cut off. */
const PAYLOAD_BEGIN = /^\s*\{\s*"ref"\s*:\s*("(?:[^"\\]|\\.)*")/;

function readPayloadRef(payload: string): string | null {
  const begin = PAYLOAD_BEGIN.exec(payload)?.[1];
  const push = PushPayload.safeParse(begin === undefined ? readJson(payload) : { ref: readJson(begin) });
  return push.success ? push.data.ref : null;
}

/** A text within an answer counts as one value there, so that it has the limits of an answer for itself. */
function readJson(text: string): unknown {
  if (!isBoundedJson(Buffer.from(text))) return null;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/**
 * Gitea's `path` is `gate.yml@refs/heads/…`: the path of the file from the folder that the forge reads workflows from. So one that
 * begins with `.gitea/workflows/` is a file of a second folder of that name, within the first.
 */
function workflowOfPath(path: string, { branch }: GateQuery): string {
  const ref = `@${branchRef(branch)}`;
  return path.endsWith(ref) ? path.slice(0, -ref.length) : path;
}

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function describeRun(transport: ForgeTransport, row: RunRow | null | 'of_others'): GateReading {
  if (row === null) return { kind: 'none' };
  if (row === 'of_others') return { kind: 'none', isOfOthers: true };
  const run = { runId: String(row.id), url: readLink(transport, row.html_url) };
  const verdict = verdictOf(row);
  if (verdict !== undefined) {
    const isSkipped = NO_JOB_RAN.includes(resultOf(row));
    return { kind: 'finished', verdict, ...run, ...(isSkipped ? { isSkipped } : {}) };
  }
  return { kind: 'running', ...run, ...(WAITING.includes(row.status) ? { waitsForRunner: true } : {}) };
}

/** Undefined: it has not ended. */
function verdictOf(row: RunRow | null): Verdict | undefined {
  return row === null ? undefined : VERDICTS.get(resultOf(row));
}

/** Gitea says `completed` and puts the result elsewhere. */
function resultOf({ status, conclusion }: RunRow): string {
  return status === 'completed' ? conclusion || NO_RESULT : status;
}
