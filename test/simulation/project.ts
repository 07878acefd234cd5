import { DEFAULT_SERVICE_NAME, stagingPattern, stagingPrefix } from '#core/domain/queue/queue-names.ts';
import type { MergeStyle } from '#core/domain/repos/merge-style.ts';
import type { AbstractForge } from '../fakes/abstract-forge/abstract-forge.ts';
import { DEFAULT_PERSON } from '../fakes/abstract-forge/people.ts';
import { GATE_FILE as GATE_OF_STAGING, judgeByContent } from '../scenario/stories.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import { drawChange } from './draw-change.ts';
import type { Family } from './families.ts';
import { KnownHeads } from './known-heads.ts';
import type { Odds } from './odds.ts';
import { type NewPull, type Plot, RELEASE } from './plot.ts';
import { drawPlots } from './plots.ts';
import { ProjectGate } from './project-gate.ts';
import { ProjectHands, STRANGER } from './project-hands.ts';
import { AUTHORS, CROWD_AUTHOR, FEW_AUTHORS } from './rules.ts';

export interface ProjectOptions {
  readonly family: Family;
  readonly style: MergeStyle;
  /** Pull requests opened over the whole life. */
  readonly pullsMax: number;
  /** Where the forge reads the gate's workflow from. */
  readonly gatePath: string;
  /** The CI gates every branch that a person pushes. @default false */
  readonly gatesHeads?: boolean;
  /** Pull requests of the people of another managed branch of this repository. @default the forge has one managed branch */
  readonly elsewhere?: () => readonly number[];
  readonly now: () => number;
  readonly note: (line: string) => void;
  readonly sometimes: (what: string) => void;
}

/** One repository with its people: what they open, change their minds about, approve, and break. */
export class Project {
  readonly prs: number[] = [];
  readonly gate: ProjectGate;
  readonly #hands: ProjectHands;
  readonly #forge: AbstractForge;
  readonly #world: SeededRandom;
  readonly #people: SeededRandom;
  readonly #odds: () => Odds;
  readonly #options: ProjectOptions;
  readonly #gateFile: string;
  /** The heads of all times, and who asked for them. */
  readonly heads = new KnownHeads();
  readonly #touchedAt = new Map<number, number>();
  readonly #branches: string[] = [];
  readonly #authors = new Map<number, string>();
  #plots: readonly Plot[] = [];
  #opened = 0;

  constructor(
    forge: AbstractForge,
    randoms: {
      readonly world: SeededRandom;
      readonly gate: SeededRandom;
      readonly people: SeededRandom;
      readonly plots: SeededRandom;
    },
    odds: () => Odds,
    options: ProjectOptions,
  ) {
    this.#forge = forge;
    this.#world = randoms.world;
    this.#people = randoms.people;
    this.#odds = odds;
    this.#options = options;
    this.#gateFile =
      options.gatesHeads === true
        ? GATE_OF_STAGING.replace(stagingPattern(DEFAULT_SERVICE_NAME), '**')
        : GATE_OF_STAGING;
    const { note, sometimes, gatePath, elsewhere } = options;
    this.#hands = new ProjectHands({
      forge,
      odds,
      note,
      heads: this.heads,
      random: randoms.people,
      style: options.style,
      prs: this.prs,
      authorOf: (pr) => this.authorOf(pr),
    });
    const hand = {
      forge,
      odds,
      note,
      sometimes,
      gatePath,
      prs: this.prs,
      random: randoms.plots,
      ...(elsewhere === undefined ? {} : { elsewhere }),
      takeName: () => this.#takeName(),
      press: (pr: number) => this.#hands.press(pr),
      open: (pull: NewPull) => this.#propose(pull),
    };
    this.#plots = drawPlots(hand, odds());
    this.gate = new ProjectGate({
      forge,
      random: randoms.gate,
      odds,
      note,
      path: gatePath,
      file: this.#gateFile,
    });
  }

  async begin(): Promise<void> {
    const forge = this.#forge;
    const random = this.#world;
    await forge.setAccess(STRANGER, 'read');
    await forge.pushToBase({
      [this.#options.gatePath]: this.#gateFile,
      'shared.txt': 'base\n',
      'lines.txt': 'a\nb\nc\nd\ne\nf\ng\nh\n',
    });
    await forge.pushBranch('other', await forge.tip(forge.base));
    const gateMs = random.pick([1_000, 20_000, 120_000, 600_000]);
    forge.checkDelayMs = random.pick([0, 0, 1_000, 20_000]);
    this.gate.begin(gateMs);
    const asksReviews =
      this.#options.family === 'reviews' || (this.#options.family === 'everything' && random.chance(0.3));
    if (asksReviews) {
      await forge.setProtection({
        requiredApprovals: random.int(2),
        blockOnRejectedReviews: random.chance(0.5),
        ignoreStaleApprovals: random.chance(0.5),
        blockOnOutdatedBranch: random.chance(0.2),
      });
    }
    const least = this.#odds().oneAuthor > 0 ? 10 : 1;
    const count = Math.min(this.#options.pullsMax, least + random.int(8));
    for (let index = 0; index < count; index += 1) await this.#open();
  }

  #drawAuthor(): string {
    const { oneAuthor } = this.#odds();
    if (oneAuthor === 0) return this.#world.pick(AUTHORS);
    return this.#world.chance(oneAuthor) ? CROWD_AUTHOR : this.#world.pick(FEW_AUTHORS);
  }

  #takeName(): string {
    this.#opened += 1;
    // One forge has the branches of both.
    return this.#forge.base === RELEASE ? `r${this.#opened}` : `p${this.#opened}`;
  }

  /** A pull request that a plot opens: pressed like any other, where there is a button. */
  async #propose(pull: NewPull): Promise<number> {
    const pr = await this.#forge.openPullRequest(pull);
    this.prs.push(pr);
    this.#touchedAt.set(pr, this.#options.now());
    this.heads.remember(pr, (await this.#forge.pull(pr)).headSha);
    if (this.#people.chance(0.9)) await this.#hands.press(pr);
    return pr;
  }

  async #open(): Promise<void> {
    for (const plot of this.#plots) if ((await plot.open?.()) === true) return;
    const random = this.#world;
    const name = this.#takeName();
    const { path, content, from } = drawChange(random, {
      name,
      opened: this.#opened,
      branches: this.#branches,
      gatePath: this.#options.gatePath,
      gateFile: this.#gateFile,
    });
    const isOutside = this.#options.family === 'reviews' && random.chance(0.2);
    // Every third of them was pushed to `refs/for/…`.
    const agit = isOutside && this.#opened % 3 === 0;
    const fork = isOutside && !agit;
    const pr = await this.#forge.openPullRequest({
      branch: name,
      title: `Add ${name}`,
      files: { [path]: content },
      ...(this.#odds().otherSchedulers > 0 ? { author: this.#drawAuthor() } : {}),
      ...(from === undefined ? {} : { from }),
      fork,
      agit,
    });
    if (!isOutside) this.#branches.push(name);
    this.#authors.set(pr, (await this.#forge.pull(pr)).author);
    this.prs.push(pr);
    this.heads.remember(pr, (await this.#forge.pull(pr)).headSha);
    this.#options.note(`opens #${pr} ${path} ${content.trim().slice(0, 20)} ${from ?? ''}`);
    if (random.chance(0.9)) await this.#hands.press(pr);
  }

  /** '' where a plot opened it. */
  authorOf(pr: number): string {
    return this.#authors.get(pr) ?? '';
  }

  /** Whether these words on its head say what its author has to know of it. */
  async isTold(pr: number, words: string): Promise<boolean> {
    for (const plot of this.#plots) if ((await plot.isTold?.(pr, words)) === true) return true;
    return this.gate.isToldOf(pr, words);
  }

  isMerged(sha: string): boolean {
    return this.#forge.merges().some((merge) => merge.head === sha);
  }

  /** Merged, into whatever base it was for by then. */
  isDone(sha: string): boolean {
    return this.heads.pullsOf(sha).some((pr) => this.#forge.isMerged(pr));
  }

  /** A rule asks for the queue's status there, and it is not the queue's own base. */
  isGuarded(base: string): boolean {
    return base === RELEASE && this.#options.elsewhere === undefined;
  }

  /** The time of the last act of a person on it; minus infinity before the first. */
  touchedAt(pr: number): number {
    return this.#touchedAt.get(pr) ?? Number.NEGATIVE_INFINITY;
  }

  /** One thing that a person does. */
  async act(): Promise<void> {
    for (const plot of this.#plots) if ((await plot.act?.()) === true) return;
    const random = this.#people;
    const forge = this.#forge;
    const { note } = this.#options;
    const pr = this.prs[random.int(this.prs.length)] ?? 0;
    const pull = await forge.pull(pr);
    const act = random.int(16);
    this.#touchedAt.set(pr, this.#options.now());
    if (act === 15 && this.prs.length < this.#options.pullsMax + 6) return this.#open();
    if (this.#options.family === 'base_pushed' && random.chance(0.4)) {
      note('pushes to the base');
      await forge.pushToBase({
        [`pushed-${random.int(100)}.txt`]: random.chance(0.1) ? 'BAD\n' : 'pushed\n',
      });
      return;
    }
    if (this.#options.family === 'foreign_status' && random.chance(0.3)) {
      note(`mallory posts on #${pr}`);
      return forge.postStatusAs(
        'mallory',
        pull.headSha,
        DEFAULT_SERVICE_NAME,
        random.pick(['success', 'skipped', 'warning', 'banana', 'error', 'pending']),
      );
    }
    if (pull.state === 'closed') {
      if (!pull.merged && act < 4) {
        note(`#${pr} reopened`);
        await forge.reopen(pr);
      }
      return;
    }
    note(`act ${act} on #${pr}`);
    if (act < 2 || (act < 9 && this.#options.family === 'unchecked_head')) {
      await this.#hands.push(pr, { [`src/p${pr}-more.txt`]: `${random.int(100)}\n` });
      if (random.chance(0.6)) await this.#hands.reschedule(pr);
    } else if (act === 2) {
      const heads = this.heads.of(pr);
      const head = heads[random.int(heads.length)] ?? pull.headSha;
      await forge.forcePushPullRequest(pr, head);
      await this.#hands.notePush(pr, head, DEFAULT_PERSON);
      if (random.chance(0.6)) await this.#hands.reschedule(pr);
    } else if (act === 3 || act === 4) {
      if (forge.isScheduled(pr)) await forge.cancelSchedule(pr);
    } else if (act === 5 || act === 6) await this.#hands.reschedule(pr);
    else if (act === 7) await forge.close(pr);
    else if (act === 8) await this.#retarget(pr, pull.baseRef === forge.base ? 'other' : forge.base);
    else if (act === 9) await forge.setTitle(pr, pull.draft ? `Add p${pr}` : `WIP: p${pr}`);
    else if (act === 10) await forge.setTitle(pr, `Add p${pr} ${random.int(100)}`);
    else if (act === 11) await this.#deleteStagingBranch();
    else if (act === 12)
      await forge.postStatusAs('ci', pull.headSha, 'ci/lint', random.pick(['success', 'skipped', 'failure']));
    else await this.#review(pr);
  }

  /** One thing that a person does to a pull request whose success stands. */
  async interrupt(head: string): Promise<void> {
    const [pr] = this.heads.pullsOf(head);
    if (pr === undefined || (await this.#forge.pull(pr)).state !== 'open') return;
    const forge = this.#forge;
    const kind = this.#people.int(6);
    this.#options.note(`interrupts #${pr} by ${kind}`);
    this.#touchedAt.set(pr, this.#options.now());
    if (kind < 2) await forge.cancelSchedule(pr).catch(() => undefined);
    else if (kind === 2) await forge.close(pr);
    else if (kind === 3) await forge.setTitle(pr, `WIP: p${pr}`);
    else if (kind === 4) await this.#retarget(pr, 'other');
    else await this.#hands.push(pr, { [`src/p${pr}-more.txt`]: 'interrupted\n' });
  }

  async #retarget(pr: number, base: string): Promise<void> {
    // The forge takes no second proposal of a branch for one base.
    await this.#forge.retarget(pr, base).catch(() => undefined);
  }

  async #deleteStagingBranch(): Promise<void> {
    const staging = (await this.#forge.branches()).filter((branch) =>
      branch.startsWith(stagingPrefix(DEFAULT_SERVICE_NAME)),
    );
    const branch = staging[this.#people.int(staging.length)];
    if (branch === undefined) return;
    this.#options.note(`a person deletes ${branch}`);
    this.#options.sometimes('staging branch deleted');
    await this.#forge.deleteBranch(branch);
  }

  async #review(pr: number): Promise<void> {
    const verdict = this.#people.int(6);
    // Of half of them without a trace: by the API, as who wrote a review can.
    if (verdict === 0 && this.#options.family === 'rules' && pr % 2 === 0)
      await this.#forge.deleteReviews(pr);
    else if (verdict === 0) await this.#forge.dismissReviews(pr);
    else if (verdict === 1) await this.#forge.review(pr, 'reviewer', 'reject');
    else if (verdict === 2) await this.#forge.requestReview(pr, 'reviewer');
    else await this.#hands.approve(pr);
  }

  /** All people become reasonable: runs end, what is open is approved, a failing base is repaired where that is allowed. */
  async heal(): Promise<void> {
    const forge = this.#forge;
    for (const plot of this.#plots) await plot.heal?.();
    forge.runners = Number.POSITIVE_INFINITY;
    for (const run of forge.runs()) {
      if (run.state !== 'running') continue;
      await forge.finishRun(run.id, judgeByContent(forge.readTreeFiles(run.tree)));
    }
    for (const pr of this.prs) {
      const isOpen = (await forge.pull(pr)).state === 'open';
      if (isOpen) await this.#hands.approve(pr);
    }
    const isRed = judgeByContent(await forge.readFiles(await forge.tip(forge.base))) === 'failure';
    if (isRed && this.#options.family === 'base_pushed') await forge.pushToBase({ healed: 'yes\n' });
  }

  /** A batch whose run will never come waits for a person: they take the schedules back … */
  async pause(): Promise<readonly number[]> {
    const paused: number[] = [];
    for (const pr of this.gate.isStuck ? this.prs : []) {
      if ((await this.#forge.pull(pr)).state !== 'open') continue;
      // Dropped by the forge without an entry: its page has only the button that schedules.
      if (this.#hands.isScheduled(pr) && !this.#forge.isScheduled(pr)) await this.#hands.press(pr);
      if (!this.#forge.isScheduled(pr)) continue;
      await this.#forge.cancelSchedule(pr);
      paused.push(pr);
    }
    return paused;
  }

  /** … and press again once the queue has seen that. */
  async resume(paused: readonly number[]): Promise<void> {
    for (const pr of paused) await this.#hands.press(pr);
  }
}
