import { LANDING_TIMEOUT_MS } from '#core/domain/limits.ts';
import type { QueueView } from '#core/domain/queue/queue-view.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import type { QueueRecord } from '../../../engine-container/src/queue/record/record.ts';
import { judgePageWords } from '../page-words.ts';
import { findPull, HeadJudge, isInQueue, SILENCE, STRANGER_STANDS, SUCCESS_STANDS } from './judge-heads.ts';
import { type Act, CONTEXTS, type Play, type Story } from './story.ts';

/** A status is written after the record, and a look comes within half a minute of any change. */
const STANDS_MS_MIN = 60_000;
/** The five minutes of A145, and the look after them. */
const SILENT_MS_MIN = 5 * 60_000 + STANDS_MS_MIN;
/** Two pull requests in five minutes (`PULLS_PER_TURN` of the status patrol); a story has three. */
const STRANGER_MS_MIN = 2 * 5 * 60_000 + STANDS_MS_MIN;
const LOST_MERGE_MS_MIN = LANDING_TIMEOUT_MS + STANDS_MS_MIN;
/** `nothing` on the page is the same silence. */
const SILENT_PAGE = /says "nothing"$/;

export interface Seen {
  readonly repo: ManagedRepo;
  readonly record: QueueRecord | null;
  readonly view: QueueView | undefined;
  /** When the act was over; null before it. */
  readonly doneAt: number | null;
}

/** Words of heads and page that do not agree with the forge, and for how long they did not. */
export class WordWatch {
  readonly #play: Play;
  readonly #heads: HeadJudge;
  readonly #losesMerges: boolean;
  readonly #dropsRule: boolean;
  readonly #since = new Map<string, number>();
  readonly #longest = new Map<string, number>();

  constructor(play: Play, story: Story, act: Act | null) {
    this.#play = play;
    this.#losesMerges = story.losesMerges === true;
    this.#dropsRule = act?.dropsRule === true;
    this.#heads = new HeadJudge(play.forge, play.prs);
  }

  async look({ repo, record, view, doneAt }: Seen): Promise<void> {
    const found = new Set(
      await this.#heads.judge({
        context: repo.statusContext,
        isOn: repo.queueEnabled,
        pause: repo.pause?.kind ?? null,
        isHalted: record?.halted != null,
        isRuled: !this.#dropsRule || doneAt === null,
        batches: record?.batches.length ?? null,
      }),
    );
    if (record !== null && repo.queueEnabled) {
      const { forge } = this.#play;
      const isComparable = !this.#dropsRule || doneAt === null;
      if (isComparable)
        for (const problem of await judgePageWords(forge, record, view, CONTEXTS)) found.add(problem);
      for (const { pr, state, reason } of view?.places ?? []) {
        const pull = await findPull(forge, pr);
        if (pull !== null && !isInQueue(forge, pull))
          found.add(`#${pr} is out, and has a place on the page (${state} ${reason})`);
      }
    }
    this.#note(found, doneAt);
  }

  #note(found: ReadonlySet<string>, doneAt: number | null): void {
    const now = this.#play.now();
    for (const problem of this.#since.keys()) if (!found.has(problem)) this.#since.delete(problem);
    for (const problem of found) {
      const since = this.#since.get(problem) ?? now;
      this.#since.set(problem, since);
      const standsMs = Math.min(now - since, now - (doneAt ?? now));
      this.#longest.set(problem, Math.max(this.#longest.get(problem) ?? 0, standsMs));
    }
  }

  /** Those that stood for longer than a queue takes to see a change and to tell of it. */
  violations(): readonly string[] {
    return [...this.#longest]
      .filter(([problem, ms]) => ms >= this.#msMinOf(problem))
      .map(([problem, ms]) => `${problem}, for ${Math.round(ms / 60_000)} min`);
  }

  #msMinOf(problem: string): number {
    if (problem.endsWith(SILENCE) || SILENT_PAGE.test(problem)) return SILENT_MS_MIN;
    if (problem.startsWith(STRANGER_STANDS)) return STRANGER_MS_MIN;
    return this.#losesMerges && problem.startsWith(SUCCESS_STANDS) ? LOST_MERGE_MS_MIN : STANDS_MS_MIN;
  }
}
