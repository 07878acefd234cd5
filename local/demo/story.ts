import type { ActivityEvent, NodeRow, Receipt } from '#core/domain/queue/batch.ts';
import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import { PLAN_LIMITS } from '#core/domain/tenants/billing.ts';
import { readPull } from '#core/services/pulls/read-pull.ts';
import { Acts } from './acts.ts';
import { type Fate, HEAD_PUSH, type PlannedPullRequest, PULL_REQUESTS } from './project.ts';
import type { Stage } from './stage.ts';
import { StoryTeller } from './view.ts';

export interface Ending {
  readonly pr: number;
  readonly title: string;
  readonly note: string;
  readonly expected: Fate;
  readonly actual: Fate | 'open';
  /** The status that the forge shows on the head. */
  readonly said: string;
  /** The words and the next step as the API tells them; null: it landed. */
  readonly told: string | null;
}

export interface StoryResult {
  readonly endings: readonly Ending[];
  readonly receipts: readonly (Receipt & { readonly pr: number })[];
  readonly gateRuns: number | null;
  readonly batches: number;
  /** Commits on the base since the start that no receipt proves. */
  readonly unproven: readonly string[];
}

const LOOK_EVERY_MS = 100;
const STORY_MS_MAX = 170_000;
const STORY_ON_REAL_FORGE_MS_MAX = 1_200_000;
const ROWS_MAX = 500;

/** Lets the queue work, does what people do meanwhile, and looks until the end of every pull request is known. */
export async function play(stage: Stage, say: (line: string) => void): Promise<StoryResult> {
  const teller = new StoryTeller(say);
  const tenantId = await tenantOf(stage);
  const read = async (): Promise<{ rows: readonly NodeRow[]; events: readonly ActivityEvent[] }> => ({
    rows: await stage.service.store.listBatches(tenantId, ROWS_MAX),
    events: await stage.service.store.listEvents(tenantId, ROWS_MAX),
  });
  await wake(stage);
  const acts = new Acts(stage.state.twistsDone, (name) =>
    stage.save({ twistsDone: [...stage.state.twistsDone, name] }),
  );
  const deadline = Date.now() + (stage.fake === null ? STORY_ON_REAL_FORGE_MS_MAX : STORY_MS_MAX);
  for (;;) {
    const { rows, events } = await read();
    teller.tell(rows, events);
    twist(stage, rows, acts, say);
    acts.check();
    if (isOver(stage, events) || Date.now() > deadline) break;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
  await acts.end();
  const { rows, events } = await read();
  teller.tell(rows, events);
  return judge(stage, rows);
}

/** A schedule makes no event on any forge, so the queue would see it at the next tick: the demo does not wait for that. */
async function wake(stage: Stage): Promise<void> {
  await stage.service.store.markDue(stage.state.repoId, Date.now());
  await stage.service.fireTick();
}

async function tenantOf(stage: Stage): Promise<string> {
  const repo = await stage.service.store.getRepo(stage.state.repoId);
  if (repo === null) throw new Error('the enrolled repository is gone');
  return repo.tenantId;
}

/** Begins the acts of people while the queue works: one pushes to a gated head, one changes their mind. */
function twist(stage: Stage, rows: readonly NodeRow[], acts: Acts, say: (line: string) => void): void {
  for (const planned of PULL_REQUESTS) {
    const pr = stage.state.numbers[planned.branch] ?? 0;
    const gated = rows.some(
      (row) => row.outcome === 'running' && row.phase === 'waiting_gate' && row.prs.includes(pr),
    );
    if (planned.twist === 'cancelled' && gated) {
      acts.begin('cancelled', async () => {
        await stage.person.cancelSchedule(pr);
        say(`  ~ a person cancels the auto-merge of #${pr} while it is gated`);
      });
    } else if (planned.twist === 'head_pushed' && gated) {
      acts.begin('pushed', async () => {
        await stage.person.commitFiles(planned.branch, HEAD_PUSH, false);
        say(`  ~ a person who may merge pushes to #${pr} while it is gated: the push renews its schedule`);
        await wake(stage);
      });
    }
  }
}

function isOver(stage: Stage, events: readonly ActivityEvent[]): boolean {
  return PULL_REQUESTS.every((planned) => {
    const pr = stage.state.numbers[planned.branch];
    const own = events.filter((event) => event.pr === pr);
    if (planned.fate === 'lands')
      return own.some((event) => event.event === 'pr_landed' || event.event === 'pr_bounced');
    if (planned.fate === 'bounced')
      return own.some((event) => event.event === 'pr_bounced' || event.event === 'pr_landed');
    return own.some((event) => event.event === 'pr_skipped' || event.event === 'pr_refused');
  });
}

/** The words of `GET …/pulls/{number}`, and its step where they do not name one. */
async function tellWhy(stage: Stage, pr: number): Promise<string> {
  const { service, state } = stage;
  const deps = { store: service.store, clock: { now: () => Date.now() }, planLimits: PLAN_LIMITS };
  const { now } = await readPull(deps, await tenantOf(stage), state.repoId, String(pr));
  return now.words?.includes(';') === true ? now.words : `${now.words}. ${now.next}`;
}

/** The forge is asked, not the queue: who is merged, what stands on each head, what lies on the base. */
async function judge(stage: Stage, rows: readonly NodeRow[]): Promise<StoryResult> {
  const endings: Ending[] = [];
  for (const planned of PULL_REQUESTS) {
    const pr = stage.state.numbers[planned.branch] ?? 0;
    const pull = await stage.person.pull(pr);
    const said = (await stage.person.statusOf(pull.head, DEFAULT_SERVICE_NAME)) ?? '';
    const skipped = planned.fate === 'skipped' && !said.startsWith('bounced:');
    const actual = pull.merged
      ? 'lands'
      : said.startsWith('bounced:')
        ? 'bounced'
        : skipped
          ? 'skipped'
          : 'open';
    const told = pull.merged ? null : await tellWhy(stage, pr);
    endings.push({
      pr,
      title: planned.title,
      note: planned.note,
      expected: planned.fate,
      actual,
      said,
      told,
    });
  }
  const fates = new Map(PULL_REQUESTS.map((planned, at) => [planned.branch, endings[at]?.actual ?? 'open']));
  const asTheyMayEnd = endings.map((ending, at) => {
    const planned = PULL_REQUESTS[at];
    return planned === undefined ? ending : { ...ending, expected: fateOfPair(planned, fates) };
  });
  const receipts = rows
    .flatMap((row) => row.actions)
    .flatMap((action) => (action.receipt === undefined ? [] : [{ ...action.receipt, pr: action.pr }]))
    .filter(
      (receipt, index, all) => all.findIndex((other) => other.mergeCommit === receipt.mergeCommit) === index,
    )
    .sort((a, b) => a.landedAt - b.landedAt);
  return {
    endings: asTheyMayEnd,
    receipts,
    gateRuns: await countGateRuns(stage),
    batches: rows.filter((row) => row.nodeId === 'r').length,
    unproven: await findUnproven(stage, receipts),
  };
}

/** Which of two that fail together is in a batch that lands first hangs on how long the runs take. */
export function fateOfPair(
  planned: Pick<PlannedPullRequest, 'branch' | 'fate' | 'partner'>,
  fates: ReadonlyMap<string, Ending['actual']>,
): Fate {
  if (planned.partner === undefined) return planned.fate;
  const [own, other] = [fates.get(planned.branch), fates.get(planned.partner)];
  if (own === 'lands' && other === 'bounced') return 'lands';
  return own === 'bounced' && other === 'lands' ? 'bounced' : planned.fate;
}

async function findUnproven(stage: Stage, receipts: StoryResult['receipts']): Promise<string[]> {
  const unproven: string[] = [];
  let at = await stage.person.baseTip();
  while (at !== stage.state.startTip) {
    const commit = await stage.person.commit(at);
    const receipt = receipts.find((candidate) => candidate.mergeCommit === at);
    const parent = commit.parents[0];
    if (receipt === undefined || receipt.tree !== commit.tree || receipt.baseBefore !== parent)
      unproven.push(at);
    if (parent === undefined) break;
    at = parent;
  }
  return unproven;
}

async function countGateRuns(stage: Stage): Promise<number | null> {
  if (stage.ci !== null) return stage.ci.runs();
  // Another CI has no list of runs on the forge.
  if (stage.fake !== null && stage.fake.knobs.ci !== 'actions')
    return stage.fake.controlFor(stage.state.slug).runs().length;
  try {
    const answer = (await stage.person.call(
      'GET',
      `/api/v1/repos/${stage.state.slug}/actions/runs?limit=50`,
    )) as {
      total_count: number;
    };
    return answer.total_count;
  } catch {
    return null;
  }
}
