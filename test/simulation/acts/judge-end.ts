import type { PullRequest } from '#core/domain/forge/forge.ts';
import { codeOfEvent } from '#core/domain/pulls/find-pull-code.ts';
import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import type { ActivityEvent, NodeRow } from '#core/domain/queue/batch.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import type { QueueRecord } from '../../../engine-container/src/queue/record/record.ts';
import { judgeByContent } from '../../scenario/stories.ts';
import type { Judge } from '../judge.ts';
import { judgeRest, type RestingRepo } from '../oracle.ts';
import { codeOfWords, findPull, isInQueue } from './judge-heads.ts';
import type { Act, Play, Story } from './story.ts';

export interface End {
  readonly story: Story;
  readonly act: Act | null;
  readonly play: Play;
  readonly judge: Judge;
  readonly repo: ManagedRepo;
  readonly record: QueueRecord | null;
  /** Oldest first. */
  readonly events: readonly ActivityEvent[];
  readonly rows: readonly NodeRow[];
  readonly alarms: ReadonlySet<string>;
}

/** Ways out that a merged pull request may have been told of. */
const OF_MERGED: readonly string[] = ['landed', 'unverified', 'merged_outside_the_queue', 'merged_along'];
const OF_UNPROVEN = ['unverified_landing', 'tree_mismatch'];
/** The people of a life, whom a story has none of. */
const NO_PROJECT = { heads: { pullsOf: () => [] }, touchedAt: () => 0 } as unknown as RestingRepo['project'];

const stops = ({ act, repo, record }: End): boolean =>
  act?.stops === true || !repo.queueEnabled || record?.halted != null;

/** What must hold where a story has come to rest. */
export async function judgeEnd(end: End): Promise<readonly string[]> {
  const { judge } = end;
  const problems = judgeLandings(end);
  judge.readRest(stops(end));
  problems.push(...judge.violations.splice(0));
  if (!stops(end)) problems.push(...(await judgeRested(end)));
  return problems;
}

function judgeLandings({ act, play, judge, alarms }: End): string[] {
  const problems: string[] = [];
  judge.read();
  problems.push(...judge.violations.splice(0));
  const isNoticed = OF_UNPROVEN.some((alarm) => alarms.has(alarm));
  for (const pr of judge.unproven) {
    if (play.handMerged.has(pr)) continue;
    if (act?.isUnguarded !== true) problems.push(`#${pr} landed unproven`);
    else if (!isNoticed) problems.push(`#${pr} landed unproven, and no alarm tells of it`);
  }
  return problems;
}

async function judgeRested(end: End): Promise<readonly string[]> {
  const { story, act, play, judge, repo, events, rows } = end;
  const { forge, prs } = play;
  const problems: string[] = [];
  const pulls = await Promise.all(prs.map((pr) => findPull(forge, pr)));
  // What became of one that is not there is not known to the judge of rows and events.
  if (!pulls.includes(null))
    problems.push(
      ...(await judgeRest({
        repo,
        forge,
        judge,
        rows,
        events,
        project: NO_PROJECT,
        isFlaky: false,
        failuresMin: 2,
        skewMs: 0,
        isPrompt: false,
        recordsLost: 0,
        attemptsMax: 0,
      })),
    );
  // A base that fails the gate lets nothing land.
  if (judgeByContent(await forge.readFiles(await forge.tip(forge.base))) === 'failure') return problems;
  for (const [place, pull] of pulls.entries()) {
    if (pull === null) continue;
    problems.push(...judgeStory(end, pull), ...(await judgeWait(end, pull)));
    const mustLand = pull.number !== play.pr && act?.keepsOthers !== true && story.lands.includes(place);
    if (mustLand && !pull.merged && (await canMerge(play, pull)))
      problems.push(`#${pull.number}, to which nothing was done, did not land`);
  }
  return problems;
}

/** No act has brought its changes to the base, or others that they conflict with. */
async function canMerge({ forge }: Play, { headSha }: PullRequest): Promise<boolean> {
  const tip = await forge.tip(forge.base);
  return ![null, forge.commit(tip).tree].includes(forge.previewMerge(tip, headSha));
}

/** The story of a pull request ends as the pull request did. */
function judgeStory({ play, events }: End, pull: PullRequest): readonly string[] {
  const { number, merged, baseRef } = pull;
  const last = events.findLast(({ pr }) => pr === number);
  if (last === undefined) return [];
  const code = codeOfEvent(last.event, last.reason);
  const is = code === null ? null : PULL_CODES[code].is;
  const isIn = isInQueue(play.forge, pull);
  const tells = `the story of #${number} ends with ${last.event} ${code}`;
  if (merged && baseRef === play.forge.base && !OF_MERGED.includes(code ?? ''))
    return [`${tells}, and it is merged`];
  if (!isIn && is !== 'exit') return [`${tells}, and it is out`];
  if (isIn && is === 'exit' && last.event !== 'pr_bounced') return [`${tells}, and it is in the queue`];
  return [];
}

/** One that waits in a queue at rest waits for a person, who is told so. */
async function judgeWait({ play, repo }: End, pull: PullRequest): Promise<readonly string[]> {
  const { forge } = play;
  if (!isInQueue(forge, pull) || forge.ruleViolation(pull.number) !== null) return [];
  const words = (await forge.status(pull.headSha, repo.statusContext))?.description ?? '';
  const [, code] = Object.entries(PULL_CODES).find(([, { says }]) => words.startsWith(says)) ?? [];
  if (/^(bounced|refused|requeued: head changed)/.test(words) || (code !== undefined && code.turn !== 'none'))
    return [];
  return [`#${pull.number} waits for nothing, and says "${words}"`];
}

/** How each ended: on the forge, on its head, in its story. */
export async function tellEndings({ play, repo, events, record, alarms }: End): Promise<string> {
  const told: string[] = [];
  for (const pr of play.prs) {
    const pull = await findPull(play.forge, pr);
    const last = events.findLast((event) => event.pr === pr);
    const code = last === undefined ? 'no event' : (codeOfEvent(last.event, last.reason) ?? last.event);
    if (pull === null) {
      told.push(`#${pr} deleted, ${code}`);
      continue;
    }
    const words = (await play.forge.status(pull.headSha, repo.statusContext))?.description ?? 'nothing';
    const state = pull.merged ? 'merged' : pull.state;
    told.push(
      `#${pr} ${state}${play.forge.isScheduled(pr) ? ', scheduled' : ''}: ${codeOfWords(words)}, ${code}`,
    );
  }
  if (record?.halted != null) told.push('stopped');
  return [...told, ...alarms].join('; ');
}
