import type { MergeStyle } from '#core/domain/repos/merge-style.ts';
import type { AbstractForge } from '../fakes/abstract-forge/abstract-forge.ts';
import { DEFAULT_PERSON } from '../fakes/abstract-forge/people.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import type { KnownHeads } from './known-heads.ts';
import type { Odds } from './odds.ts';
import { RELEASE } from './plot.ts';
import { PUSHERS, REVIEWERS, SCHEDULERS } from './rules.ts';

/** May read here and no more. */
export const STRANGER = 'stranger';

interface HandsDeps {
  readonly forge: AbstractForge;
  readonly heads: KnownHeads;
  readonly random: SeededRandom;
  readonly odds: () => Odds;
  readonly style: MergeStyle;
  /** All pull requests of the project. */
  readonly prs: readonly number[];
  readonly authorOf: (pr: number) => string;
  readonly note: (line: string) => void;
}

/** The acts of people that ask for a head or take the request along: schedules, pushes and approvals. */
export class ProjectHands {
  readonly #deps: HandsDeps;
  #pushes = 0;

  constructor(deps: HandsDeps) {
    this.#deps = deps;
  }

  /** Every fourth push is that of one who may not merge. */
  async push(pr: number, files: Readonly<Record<string, string>>): Promise<void> {
    this.#pushes += 1;
    const byStranger = this.#pushes % 4 === 0;
    const by = byStranger ? STRANGER : this.#pickAccount(PUSHERS, DEFAULT_PERSON);
    const head = await this.#deps.forge.pushToPullRequest(pr, files, by);
    await this.notePush(pr, head, byStranger ? null : by);
    if (byStranger) this.#deps.note(`a stranger pushed to #${pr}`);
  }

  /** One of several, where this life has rules about who may schedule; else always the same one. */
  #pickAccount(accounts: readonly [string, ...string[]], usual: string): string {
    return this.#deps.odds().otherSchedulers > 0 ? this.#deps.random.pick(accounts) : usual;
  }

  /**
   * A push to a branch is one to each open pull request that proposes it: for two bases there may be two. Null: by one who may
   * not merge.
   */
  async notePush(pr: number, head: string, by: string | null): Promise<void> {
    const { headRef } = await this.#deps.forge.pull(pr);
    for (const other of this.#deps.prs) {
      const pull = await this.#deps.forge.pull(other);
      const isPushed = pull.state === 'open' && pull.headRef === headRef && pull.headSha === head;
      if (other !== pr && !isPushed) continue;
      this.#deps.heads.remember(other, head);
      if (by !== null) this.#renew(other, pull, head, by);
    }
  }

  /** The push of one who may merge asks for its head, unless that comes from outside. */
  #renew(
    pr: number,
    pull: { readonly fromFork: boolean; readonly agit: boolean },
    head: string,
    by: string,
  ): void {
    if (this.isScheduled(pr) && !pull.fromFork && !pull.agit) this.#deps.heads.noteAsked(head, by);
  }

  /** An approval asks for the head that it is given on, where a schedule stands. */
  async approve(pr: number): Promise<void> {
    const picked = this.#pickAccount(REVIEWERS, 'reviewer');
    const by = picked === this.#deps.authorOf(pr) ? 'reviewer' : picked;
    await this.#deps.forge.review(pr, by, 'approve');
    if (this.isScheduled(pr)) this.#deps.heads.noteAsked((await this.#deps.forge.pull(pr)).headSha, by);
  }

  /** As the timeline tells it: a schedule that the forge dropped without an entry still reads as one. */
  isScheduled(pr: number): boolean {
    const told = this.#deps.forge
      .timelineOf(pr)
      .findLast(({ kind }) => kind === 'scheduled' || kind === 'cancelled');
    return told?.kind === 'scheduled';
  }

  /** Presses the button where the page shows it. */
  async press(pr: number): Promise<void> {
    const pull = await this.#deps.forge.pull(pr);
    const isOurs = pull.baseRef === this.#deps.forge.base || pull.baseRef === RELEASE;
    if (pull.state !== 'open' || pull.draft || !pull.mergeable || !isOurs) return;
    const isOther =
      this.#deps.odds().otherSchedulers > 0 && this.#deps.random.chance(this.#deps.odds().otherSchedulers);
    const user = isOther
      ? this.#deps.random.pick([...SCHEDULERS, pull.author])
      : pull.fromFork && this.#deps.random.chance(0.8)
        ? pull.author
        : 'maintainer';
    try {
      await this.#deps.forge.scheduleAs(user, pr, this.#deps.style);
    } catch {
      // Its head is in the base already: the page shows no button.
      return;
    }
    this.#deps.heads.noteAsked(pull.headSha, user);
    this.#deps.note(`#${pr} scheduled`);
  }

  async reschedule(pr: number): Promise<void> {
    if (this.#deps.forge.isScheduled(pr)) await this.#deps.forge.cancelSchedule(pr);
    await this.press(pr);
  }
}
