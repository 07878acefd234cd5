import { TICK_INTERVAL_MS } from '#core/domain/limits.ts';
import type { ActivityEvent } from '#core/domain/queue/batch.ts';
import { judgeByContent } from '../scenario/stories.ts';
import type { SimClock } from '../support/sim-clock.ts';
import { countBeyond, judgeCrowd } from './crowd.ts';
import { type Family, FLAKY, FORGE_REFUSES, PROMPT, UNGUARDED } from './families.ts';
import { judgeGoneWords } from './gone-words.ts';
import { judgeLiveness, settledWithinMs } from './liveness.ts';
import type { Managed } from './managed.ts';
import { judgeRest } from './oracle.ts';
import { judgePageWords } from './page-words.ts';
import type { Witness } from './service/hosts.ts';
import type { SimService } from './service/service.ts';
import { noteRuns } from './sightings.ts';

/** After healing: five minutes between looks, at most this many. Retries of a gate and of a red base take their time. */
const REST_LOOKS_MAX = 12 * 12;
/** Looks without any change before a life counts as at rest: with nothing on record, and at most. */
const QUIET_LOOKS_MIN = 2;
const QUIET_LOOKS_MAX = 14;
/** So many looks go once over the statuses of all open pull requests. */
const PATROLLED_LOOKS = 8;

/** More than a crowd leaves behind. */
const EVENTS_MAX = 50_000;

const SMOOTH: readonly string[] = ['pr_queued', 'pr_staged', 'pr_landed'];

/** The end of a life: everything has healed, and what remains must be right. */
export class Rest {
  readonly #service: SimService;
  readonly #clock: SimClock;
  readonly #witness: Witness;
  readonly #family: Family;
  /** How far the clocks of this life's machines are off at most, either way. */
  readonly #skewMs: number;
  /** A person has looked at why the queue stands still, and lets it go on. */
  readonly #goOn: (managed: Managed) => Promise<void>;

  constructor(
    service: SimService,
    clock: SimClock,
    witness: Witness,
    family: Family,
    skewMs: number,
    goOn: (managed: Managed) => Promise<void>,
  ) {
    this.#goOn = goOn;
    this.#service = service;
    this.#clock = clock;
    this.#witness = witness;
    this.#family = family;
    this.#skewMs = skewMs;
  }

  /** Lets time pass until nothing changes any more. Each repository is judged when its stated time is over, at the latest then. */
  async reach(all: readonly Managed[]): Promise<void> {
    let quiet = 0;
    let before = -1;
    const due = new Map(
      await Promise.all(all.map(async (each) => [each, await this.#settledBy(each)] as const)),
    );
    for (let look = 0; look < REST_LOOKS_MAX && quiet < QUIET_LOOKS_MAX; look += 1) {
      await this.#clock.runUntil(this.#clock.now() + TICK_INTERVAL_MS);
      for (const managed of all) {
        const record = this.#service.store.peekRecord(managed.id);
        if (managed.deleted || (record?.halted == null && record?.rival === undefined)) continue;
        await this.#goOn(managed);
        if (due.has(managed)) due.set(managed, await this.#settledBy(managed));
      }
      for (const [managed, at] of due) {
        if (at > this.#clock.now()) continue;
        due.delete(managed);
        if (!managed.deleted) await this.#judgeLiveness(managed);
      }
      const entries = all.reduce((sum, { forge }) => sum + forge.journal().length, 0);
      quiet = entries === before ? quiet + 1 : 0;
      if (quiet > 0) for (const managed of all) await this.#judgePageWords(managed);
      before = entries;
      const isPatrolled = this.#family !== 'foreign_status' || quiet >= PATROLLED_LOOKS;
      if (quiet >= QUIET_LOOKS_MIN && isPatrolled && !this.#hasWork(all)) return;
    }
  }

  /** By when each of its pull requests has landed or its author is told why not. */
  async #settledBy({ forge, project }: Managed): Promise<number> {
    // Words of a moment ago excuse none: an approval that is given now may be seen at the next look only.
    let waiting = 0;
    for (const pr of project.prs) {
      const { state, baseRef } = await forge.pull(pr);
      if (state === 'open' && baseRef === forge.base && forge.isScheduled(pr)) waiting += 1;
    }
    return (
      this.#clock.now() +
      settledWithinMs(waiting, project.gate.durationMs, FORGE_REFUSES.includes(this.#family))
    );
  }

  async #judgeLiveness(managed: Managed): Promise<void> {
    const { id, project, crowd } = managed;
    const repo = await this.#service.store.getRepo(id);
    if (repo === null || !repo.queueEnabled) return;
    this.#witness.sometimes('liveness judged');
    const record = this.#service.store.peekRecord(id);
    const beyond = countBeyond(crowd, project.prs);
    const waiting = { ...managed, record, beyond, now: this.#clock.now() };
    for (const what of await judgeLiveness(waiting)) this.#witness.violate(`${id}: ${what}`);
  }

  async #judgePageWords({ id, forge, contexts, deleted }: Managed): Promise<void> {
    const repo = await this.#service.store.getRepo(id);
    const record = this.#service.store.peekRecord(id);
    if (repo?.queueEnabled !== true || record === null || deleted) return;
    const views = await this.#service.store.readQueueViews([id]);
    for (const what of await judgePageWords(forge, record, views.get(id), contexts))
      this.#witness.violate(`${id}: ${what}`);
  }

  /** A hint that ends a life early, no part of the judgement: a record with nothing open waits for nothing. */
  #hasWork(all: readonly Managed[]): boolean {
    for (const { id } of all) {
      const record = this.#service.store.peekRecord(id);
      if (record === null) continue;
      const waits = record.deferred.some((deferred) => deferred.until !== null) || record.restsUntil !== null;
      if (
        record.batches.length > 0 ||
        record.pendingStatuses.length > 0 ||
        record.garbage.length > 0 ||
        waits
      )
        return true;
    }
    return false;
  }

  /**
   * Heads of pull requests that merged, into whatever base they were for by then; and, where a record was lost or a
   * newer head was merged, heads that have been pushed over since: no pull request carries them any more.
   */
  async #settledHeads({ id, forge, project: { prs } }: Managed): Promise<Pick<Set<string>, 'has'>> {
    const pulls = await Promise.all(prs.map((pr) => forge.pull(pr)));
    const elsewhere = pulls.filter((pull) => pull.merged && pull.baseRef !== forge.base);
    const merged = new Set(elsewhere.map((pull) => pull.headSha));
    const current = new Set(pulls.map((pull) => pull.headSha));
    const mayStand = this.#service.store.recordsLostOf(id) > 0 || this.#family === 'unchecked_head';
    return { has: (sha) => merged.has(sha) || (mayStand && !current.has(sha)) };
  }

  /**
   * Where only the queue moves the base, what it landed itself is no news: an alarm would get a person out of bed. But a
   * lost record takes its proofs with it: a merge that its success still opens is not verified, and that is told.
   */
  #judgeAlarms(
    { id, watch }: Managed,
    unproven: ReadonlySet<number>,
    events: readonly ActivityEvent[],
  ): void {
    if (UNGUARDED.includes(this.#family) || unproven.size > 0) return;
    const landed = events.filter(({ event }) => event === 'pr_landed').map(({ pr }) => pr);
    for (const named of watch?.landedWithoutRecord === true ? landed : [...landed, null])
      for (const alarm of ['unverified_landing', 'tree_mismatch'])
        if (this.#service.alarms.has(`${alarm} ${id} #${named}`))
          this.#witness.violate(`${id}: a false alarm: ${alarm} of #${named}`);
  }

  async check(managed: Managed): Promise<void> {
    const { id, forge, judge, project, crowd, deleted } = managed;
    const { store } = this.#service;
    const witness = this.#witness;
    judge.read();
    noteRuns(forge, witness);
    const repo = await store.getRepo(id);
    if (repo === null || deleted) {
      judge.readRest(true, await this.#settledHeads(managed));
      for (const what of judge.violations.splice(0)) witness.violate(`${id} (deleted): ${what}`);
      if (repo?.tombstone === true) witness.violate(`${id}: deleted, and never purged`);
      return;
    }
    const isRed = judgeByContent(await forge.readFiles(await forge.tip(forge.base))) === 'failure';
    // A queue that is off still has branches of its last batch; its successes are taken back all the same (A34).
    judge.readRest(isRed || !repo.queueEnabled, await this.#settledHeads(managed));
    if (repo.queueEnabled) {
      const pulls = await Promise.all(project.prs.map((pr) => forge.pull(pr)));
      const open = pulls.filter((pull) => pull.state === 'open' && pull.baseRef === forge.base);
      const heads = new Set(open.map((pull) => pull.headSha));
      judge.readForged(repo.statusContext, (sha) => heads.has(sha));
    }
    for (const what of judge.violations.splice(0)) witness.violate(`${id}: ${what}`);
    const rows = (await store.listBatches(repo.tenantId, 500)).filter((row) => row.repoId === id);
    const events = (await store.listEvents(repo.tenantId, EVENTS_MAX)).filter((event) => event.repoId === id);
    const isFlaky = FLAKY.includes(this.#family);
    const failuresMin = this.#family === 'steady' ? 1 : 2;
    const recordsLost = store.recordsLostOf(id);
    const problems = repo.queueEnabled
      ? await judgeRest({
          repo,
          forge,
          judge,
          rows,
          events,
          isFlaky,
          failuresMin,
          project,
          isPrompt: PROMPT.includes(this.#family),
          skewMs: this.#skewMs,
          recordsLost,
          attemptsMax: managed.rules?.headAttemptsMax ?? 0,
        })
      : [];
    for (const what of problems) witness.violate(`${id}: ${what}`);
    const untrue = repo.queueEnabled ? await judgeGoneWords(managed, repo.statusContext, recordsLost) : [];
    for (const what of untrue) witness.violate(`${id}: ${what}`);
    await this.#judgeLiveness(managed);
    if (crowd !== undefined && repo.queueEnabled)
      for (const what of await judgeCrowd(forge, crowd, project.prs)) witness.violate(`${id}: ${what}`);
    if (this.#family === 'calm') {
      // Scheduled together, and nothing ever failed: they land in the order of their numbers (A9, A18).
      // A change of the gate is tried beside the pipeline, and no other waits for it (D-18).
      const edits = new Set(project.prs.filter((pr) => project.gate.isEditedBy(pr)));
      const landed = forge.merges().flatMap(({ pr }) => (edits.has(pr) ? [] : [pr]));
      const smooth = events.every(({ event }) => SMOOTH.includes(event));
      if (smooth && String(landed) !== String([...landed].sort((a, b) => a - b)))
        witness.violate(`${id}: landed in the order ${landed}`);
    }
    this.#judgeAlarms(managed, judge.unproven, events);
    for (const pr of judge.unproven) {
      witness.sometimes('unproven landing detected');
      const told = events.some(
        (event) =>
          event.pr === pr && (event.reason === 'unverified' || event.reason === 'merged_outside_the_queue'),
      );
      // Of a pull request that was not in the queue any more, only the move of the base is seen.
      const { alarms } = this.#service;
      const mergedAt = forge.merges().find((merge) => merge.pr === pr)?.at ?? 0;
      const movedAt = alarms.get(`unverified_landing ${id} #${null}`) ?? Number.NEGATIVE_INFINITY;
      const alarmed = alarms.has(`unverified_landing ${id} #${pr}`) || movedAt >= mergedAt;
      // A pull request that merges before the queue saw its schedule leaves no trace in the queue.
      const known = events.some((event) => event.pr === pr && event.event === 'pr_queued');
      if (known && !told && !alarmed)
        witness.violate(`${id}: the unproven landing of #${pr} was not noticed`);
    }
    witness.sometimes('came to rest');
  }
}
