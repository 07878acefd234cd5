import { DEFAULT_SERVICE_NAME, stagingPattern, stagingPrefix } from '#core/domain/queue/queue-names.ts';
import type { MergeStyle } from '#core/domain/repos/repo.ts';
import type { AbstractForge } from '../fakes/abstract-forge/abstract-forge.ts';
import { DEFAULT_PERSON } from '../fakes/abstract-forge/people.ts';
import { GATE_FILE as GATE_OF_STAGING, judgeByContent } from '../scenario/stories.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import type { Family } from './families.ts';
import type { Odds } from './odds.ts';
import { type NewPull, type Plot, RELEASE } from './plot.ts';
import { drawPlots } from './plots.ts';
import { AUTHORS, CROWD_AUTHOR, FEW_AUTHORS, PUSHERS, REVIEWERS, SCHEDULERS } from './rules.ts';

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

/** A gate run waits for a runner for up to so long. */
const RUNNER_BUSY_MS = 20 * 60_000;
/** May read here and no more. */
const STRANGER = 'stranger';

/** One repository with its people: what they open, change their minds about, approve, and break. */
export class Project {
  readonly prs: number[] = [];
  /** Gate runs were swallowed or staging branches deleted: only a person can set that going again (A20). */
  isStuck = false;
  /** How long a run takes. */
  gateMs = 0;
  readonly #forge: AbstractForge;
  readonly #world: SeededRandom;
  readonly #gate: SeededRandom;
  readonly #people: SeededRandom;
  readonly #odds: () => Odds;
  readonly #options: ProjectOptions;
  readonly #gateFile: string;
  readonly #heads = new Map<number, string[]>();
  readonly #scheduled = new Set<string>();
  /** Who asked for a head: pressed the button on it, pushed it under a schedule, or approved it there. */
  readonly #askers = new Map<string, Set<string>>();
  readonly #touchedAt = new Map<number, number>();
  readonly #branches: string[] = [];
  readonly #authors = new Map<number, string>();
  #plots: readonly Plot[] = [];
  /** A run may never begin in this life, or never end. */
  readonly #runnersFail: boolean;
  #opened = 0;
  #pushes = 0;

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
    this.#gate = randoms.gate;
    this.#people = randoms.people;
    this.#odds = odds;
    this.#options = options;
    this.#gateFile =
      options.gatesHeads === true
        ? GATE_OF_STAGING.replace(stagingPattern(DEFAULT_SERVICE_NAME), '**')
        : GATE_OF_STAGING;
    const { note, sometimes, gatePath, elsewhere } = options;
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
      press: (pr: number) => this.#press(pr),
      open: (pull: NewPull) => this.#propose(pull),
    };
    this.#plots = drawPlots(hand, odds());
    this.#runnersFail = odds().gateNever > 0 || odds().gateLate > 0;
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
    this.gateMs = random.pick([1_000, 20_000, 120_000, 600_000]);
    forge.checkDelayMs = random.pick([0, 0, 1_000, 20_000]);
    forge.judge = (files, run) => this.#judge(files, run);
    forge.mergeBehaviour = () => {
      const odds = this.#odds();
      if (this.#gate.chance(odds.mergeLost)) return { kind: 'lost' };
      if (this.#gate.chance(odds.mergeSlow))
        return { kind: 'slow', ms: this.#gate.int(this.#gate.chance(0.1) ? 600_000 : 60_000) };
      return { kind: 'now' };
    };
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
    this.#remember(pr, (await this.#forge.pull(pr)).headSha);
    if (this.#people.chance(0.9)) await this.#press(pr);
    return pr;
  }

  async #open(): Promise<void> {
    for (const plot of this.#plots) if ((await plot.open?.()) === true) return;
    const random = this.#world;
    const name = this.#takeName();
    const kind = random.int(16);
    let content = `${name}\n`;
    let path = `src/${name}.txt`;
    let from: string | undefined;
    if (kind < 2) content = 'BAD\n';
    else if (kind < 4) content = `CLASH ${name}\n`;
    else if (kind === 4) path = 'shared.txt';
    else if (kind === 5) content = 'NEEDS:src/p1.txt\n';
    else if (kind === 6) content = `NEEDS:src/p${this.#opened + 1}.txt\n`;
    else if (kind === 7) {
      path = 'lines.txt';
      content = 'a\nb\nc\nd\ne\nf\ng\nh\n'.replace(random.pick(['a', 'd', 'h']), name);
    } else if (kind === 8) from = this.#branches[random.int(this.#branches.length)];
    else if (kind === 9) {
      path = 'healed';
      content = 'yes\n';
    } else if (kind === 10 && random.chance(0.5)) {
      path = this.#options.gatePath;
      content = `# ${name}\n${this.#gateFile}`;
    }
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
    this.#remember(pr, (await this.#forge.pull(pr)).headSha);
    this.#options.note(`opens #${pr} ${path} ${content.trim().slice(0, 20)} ${from ?? ''}`);
    if (random.chance(0.9)) await this.#press(pr);
  }

  /** '' where a plot opened it. */
  authorOf(pr: number): string {
    return this.#authors.get(pr) ?? '';
  }

  /** A person with the right asked for this head: pressed the button on it, pushed it under a schedule, or approved it there. */
  wasScheduled(sha: string): boolean {
    return this.#scheduled.has(sha);
  }

  /** Accounts that asked for a head. */
  askersOf(sha: string): readonly string[] {
    return [...(this.#askers.get(sha) ?? [])];
  }

  #noteAsked(head: string, by: string): void {
    this.#scheduled.add(head);
    this.#askers.set(head, (this.#askers.get(head) ?? new Set()).add(by));
  }

  /** Everything that this was ever the head of. */
  pullsOf(sha: string): readonly number[] {
    return [...this.#heads].filter(([, heads]) => heads.includes(sha)).map(([pr]) => pr);
  }

  /** Whether these words on its head say what its author has to know of it. */
  async isTold(pr: number, words: string): Promise<boolean> {
    for (const plot of this.#plots) if ((await plot.isTold?.(pr, words)) === true) return true;
    return this.#isToldOfGate(pr, words);
  }

  /** Said of the gate, and true: its head has none, or one that starts no run, or runners failed while it was tried. */
  async #isToldOfGate(pr: number, words: string): Promise<boolean> {
    const gate = await this.#readGate(this.#forge.headOf(pr));
    if (words.startsWith('refused: deletes, renames or hides the gate')) return gate === undefined;
    if (!words.includes('its changed workflow')) return false;
    // Where the base has another gate by now, the one that the project began with is a change as well.
    const isOfBase = gate === (await this.#readGate(await this.#forge.tip(this.#forge.base)));
    if (gate === this.#gateFile && isOfBase) return false;
    return this.#runnersFail || gate?.endsWith(this.#gateFile) !== true;
  }

  async #readGate(commit: string): Promise<string | undefined> {
    return (await this.#forge.readFiles(commit)).get(this.#options.gatePath);
  }

  /** Its head has another gate than the project began with. */
  editsGate(pr: number): boolean {
    const { tree } = this.#forge.commit(this.#forge.headOf(pr));
    return this.#forge.readTreeFiles(tree).get(this.#options.gatePath) !== this.#gateFile;
  }

  isMerged(sha: string): boolean {
    return this.#forge.merges().some((merge) => merge.head === sha);
  }

  /** Merged, into whatever base it was for by then. */
  isDone(sha: string): boolean {
    return this.pullsOf(sha).some((pr) => this.#forge.isMerged(pr));
  }

  /** A rule asks for the queue's status there, and it is not the queue's own base. */
  isGuarded(base: string): boolean {
    return base === RELEASE && this.#options.elsewhere === undefined;
  }

  /** The time of the last act of a person on it; minus infinity before the first. */
  touchedAt(pr: number): number {
    return this.#touchedAt.get(pr) ?? Number.NEGATIVE_INFINITY;
  }

  #remember(pr: number, head: string): void {
    const heads = this.#heads.get(pr) ?? [];
    if (!heads.includes(head)) heads.push(head);
    this.#heads.set(pr, heads);
  }

  /** Every fourth push is that of one who may not merge. */
  async #push(pr: number, files: Readonly<Record<string, string>>): Promise<void> {
    this.#pushes += 1;
    const byStranger = this.#pushes % 4 === 0;
    const by = byStranger ? STRANGER : this.#pickAccount(PUSHERS, DEFAULT_PERSON);
    const head = await this.#forge.pushToPullRequest(pr, files, by);
    await this.#notePush(pr, head, byStranger ? null : by);
    if (byStranger) this.#options.note(`a stranger pushed to #${pr}`);
  }

  /** One of several, where this life has rules about who may schedule; else always the same one. */
  #pickAccount(accounts: readonly [string, ...string[]], usual: string): string {
    return this.#odds().otherSchedulers > 0 ? this.#people.pick(accounts) : usual;
  }

  /**
   * A push to a branch is one to each open pull request that proposes it: for two bases there may be two. Null: by one who may
   * not merge.
   */
  async #notePush(pr: number, head: string, by: string | null): Promise<void> {
    const { headRef } = await this.#forge.pull(pr);
    for (const other of this.prs) {
      const pull = await this.#forge.pull(other);
      const isPushed = pull.state === 'open' && pull.headRef === headRef && pull.headSha === head;
      if (other !== pr && !isPushed) continue;
      this.#remember(other, head);
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
    if (this.#isScheduled(pr) && !pull.fromFork && !pull.agit) this.#noteAsked(head, by);
  }

  /** An approval asks for the head that it is given on, where a schedule stands. */
  async #approve(pr: number): Promise<void> {
    const picked = this.#pickAccount(REVIEWERS, 'reviewer');
    const by = picked === this.authorOf(pr) ? 'reviewer' : picked;
    await this.#forge.review(pr, by, 'approve');
    if (this.#isScheduled(pr)) this.#noteAsked((await this.#forge.pull(pr)).headSha, by);
  }

  /** As the timeline tells it: a schedule that the forge dropped without an entry still reads as one. */
  #isScheduled(pr: number): boolean {
    const told = this.#forge
      .timelineOf(pr)
      .findLast(({ kind }) => kind === 'scheduled' || kind === 'cancelled');
    return told?.kind === 'scheduled';
  }

  #judge(files: ReadonlyMap<string, string>, run: { readonly branch: string }) {
    const odds = this.#odds();
    const random = this.#gate;
    const truth = judgeByContent(files);
    this.#forge.gateDurationMs = this.gateMs;
    if (random.chance(odds.gateNever)) {
      this.isStuck = true;
      this.#options.note(`no run on ${run.branch}`);
      return 'never' as const;
    }
    const waits = odds.runnerBusy > 0 && random.chance(odds.runnerBusy);
    this.#forge.runners = odds.runners === 0 ? Number.POSITIVE_INFINITY : odds.runners;
    this.#forge.runnerWaitMs = waits ? random.int(RUNNER_BUSY_MS) : 0;
    this.#forge.runnerLabels = waits ? ['docker'] : null;
    if (random.chance(odds.gateLate)) this.#forge.gateDurationMs = random.int(2 * 3_600_000);
    if (random.chance(odds.gateTrouble)) return random.pick(['cancelled', 'error'] as const);
    if (truth === 'success' && random.chance(odds.flake)) {
      this.#options.note(`flake on ${run.branch}`);
      return 'failure' as const;
    }
    return truth;
  }

  /** Presses the button where the page shows it. */
  async #press(pr: number): Promise<void> {
    const pull = await this.#forge.pull(pr);
    const isOurs = pull.baseRef === this.#forge.base || pull.baseRef === RELEASE;
    if (pull.state !== 'open' || pull.draft || !pull.mergeable || !isOurs) return;
    const isOther = this.#odds().otherSchedulers > 0 && this.#people.chance(this.#odds().otherSchedulers);
    const user = isOther
      ? this.#people.pick([...SCHEDULERS, pull.author])
      : pull.fromFork && this.#people.chance(0.8)
        ? pull.author
        : 'maintainer';
    try {
      await this.#forge.scheduleAs(user, pr, this.#options.style);
    } catch {
      // Its head is in the base already: the page shows no button.
      return;
    }
    this.#noteAsked(pull.headSha, user);
    this.#options.note(`#${pr} scheduled`);
  }

  async reschedule(pr: number): Promise<void> {
    if (this.#forge.isScheduled(pr)) await this.#forge.cancelSchedule(pr);
    await this.#press(pr);
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
      await this.#push(pr, { [`src/p${pr}-more.txt`]: `${random.int(100)}\n` });
      if (random.chance(0.6)) await this.reschedule(pr);
    } else if (act === 2) {
      const heads = this.#heads.get(pr) ?? [];
      const head = heads[random.int(heads.length)] ?? pull.headSha;
      await forge.forcePushPullRequest(pr, head);
      await this.#notePush(pr, head, DEFAULT_PERSON);
      if (random.chance(0.6)) await this.reschedule(pr);
    } else if (act === 3 || act === 4) {
      if (forge.isScheduled(pr)) await forge.cancelSchedule(pr);
    } else if (act === 5 || act === 6) await this.reschedule(pr);
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
    const [pr] = this.pullsOf(head);
    if (pr === undefined || (await this.#forge.pull(pr)).state !== 'open') return;
    const forge = this.#forge;
    const kind = this.#people.int(6);
    this.#options.note(`interrupts #${pr} by ${kind}`);
    this.#touchedAt.set(pr, this.#options.now());
    if (kind < 2) await forge.cancelSchedule(pr).catch(() => undefined);
    else if (kind === 2) await forge.close(pr);
    else if (kind === 3) await forge.setTitle(pr, `WIP: p${pr}`);
    else if (kind === 4) await this.#retarget(pr, 'other');
    else await this.#push(pr, { [`src/p${pr}-more.txt`]: 'interrupted\n' });
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
    else await this.#approve(pr);
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
      if (isOpen) await this.#approve(pr);
    }
    const isRed = judgeByContent(await forge.readFiles(await forge.tip(forge.base))) === 'failure';
    if (isRed && this.#options.family === 'base_pushed') await forge.pushToBase({ healed: 'yes\n' });
  }

  /** A batch whose run will never come waits for a person: they take the schedules back … */
  async pause(): Promise<readonly number[]> {
    const paused: number[] = [];
    for (const pr of this.isStuck ? this.prs : []) {
      if ((await this.#forge.pull(pr)).state !== 'open') continue;
      // Dropped by the forge without an entry: its page has only the button that schedules.
      if (this.#isScheduled(pr) && !this.#forge.isScheduled(pr)) await this.#press(pr);
      if (!this.#forge.isScheduled(pr)) continue;
      await this.#forge.cancelSchedule(pr);
      paused.push(pr);
    }
    return paused;
  }

  /** … and press again once the queue has seen that. */
  async resume(paused: readonly number[]): Promise<void> {
    for (const pr of paused) await this.#press(pr);
  }
}
