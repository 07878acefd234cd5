import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import { type Plot, RELEASE, type Stagehand } from '../plot.ts';

/** One commit is the head of several: twins at once, on one base or on two with rules, and again after a revert. */
export class SharedHeads implements Plot {
  readonly #hand: Stagehand;

  constructor(hand: Stagehand) {
    this.#hand = hand;
  }

  async open(): Promise<boolean> {
    const { random, odds, prs } = this.#hand;
    if (prs.length === 0 || !random.chance(odds().sharedHeads)) return false;
    return this.#openTwin(prs[random.int(prs.length)] ?? 0);
  }

  async act(): Promise<boolean> {
    const { random, odds, prs } = this.#hand;
    if (prs.length === 0 || !random.chance(odds().sharedHeads)) return false;
    const pr = prs[random.int(prs.length)] ?? 0;
    return this.#hand.forge.isMerged(pr) ? this.#revertOrRepeat(pr) : this.#openTwin(pr);
  }

  async #openTwin(of: number): Promise<boolean> {
    const { forge, random, note, sometimes } = this.#hand;
    const pull = await forge.pull(of);
    if (pull.fromFork || pull.agit) return false;
    const branches = await forge.branches();
    const isManaged = this.#hand.elsewhere !== undefined;
    if (!branches.includes(RELEASE)) {
      await forge.pushBranch(RELEASE, await forge.tip(forge.base));
      await forge.setProtection({ requiredContexts: [DEFAULT_SERVICE_NAME] }, RELEASE);
    }
    const base = random.chance(0.5) && !isManaged ? RELEASE : forge.base;
    // One branch may be proposed for two bases; for one base it takes two branches.
    const branch =
      base !== forge.base && branches.includes(pull.headRef) && random.chance(0.5)
        ? pull.headRef
        : this.#hand.takeName();
    const isThere = (await this.#openOn(base)).some((other) => other.headRef === branch);
    if (isThere) return false;
    const twin = await this.#hand.open({ branch, head: pull.headSha, base, title: `Twin of ${of}` });
    note(`#${twin} has the head of #${of} for ${base}`);
    sometimes(base === forge.base ? 'one head twice' : 'one head for two bases');
    return true;
  }

  async #openOn(base: string) {
    const { forge, prs } = this.#hand;
    const pulls = await Promise.all(prs.map((pr) => forge.pull(pr)));
    return pulls.filter((pull) => pull.state === 'open' && pull.baseRef === base);
  }

  async isTold(pr: number, words: string): Promise<boolean> {
    if (!words.startsWith('refused: this commit also heads a pull request to another branch')) return false;
    const { headSha } = await this.#hand.forge.pull(pr);
    return (await this.#openOn(RELEASE)).some((other) => other.headSha === headSha);
  }

  async #revertOrRepeat(pr: number): Promise<boolean> {
    const { forge, note, sometimes } = this.#hand;
    const merge = forge.merges().find((each) => each.pr === pr);
    if (merge === undefined) return false;
    const before = await forge.readFiles(merge.firstParent);
    const after = await forge.readFiles(merge.mergeCommit);
    const now = await forge.readFiles(await forge.tip(forge.base));
    const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
      (path) => before.get(path) !== after.get(path),
    );
    if (changed.length === 0) return false;
    const isReverted = changed.every((path) => now.get(path) === before.get(path));
    const branch = this.#hand.takeName();
    if (isReverted) {
      const again = await this.#hand.open({ branch, head: merge.head, title: `Again ${pr}` });
      note(`#${again} is #${pr} again, whose landing was reverted`);
      sometimes('a landed head again');
      return true;
    }
    const files = Object.fromEntries(changed.map((path) => [path, before.get(path) ?? null]));
    const revert = await this.#hand.open({ branch, files, title: `Revert ${pr}` });
    note(`#${revert} reverts #${pr}`);
    return true;
  }
}

/** A head of a pull request to the other managed branch is proposed for this one as well. */
export class HeadsOfOthers implements Plot {
  readonly #hand: Stagehand;
  readonly #elsewhere: () => readonly number[];

  constructor(hand: Stagehand, elsewhere: () => readonly number[]) {
    this.#hand = hand;
    this.#elsewhere = elsewhere;
  }

  open(): Promise<boolean> {
    return this.act();
  }

  async act(): Promise<boolean> {
    const { forge, random, odds, note, sometimes } = this.#hand;
    const others = this.#elsewhere();
    if (others.length === 0 || !random.chance(odds().sharedHeads)) return false;
    const of = others[random.int(others.length)] ?? 0;
    const { headSha } = await forge.pull(of);
    const twin = await this.#hand.open({
      branch: this.#hand.takeName(),
      head: headSha,
      title: `Port of ${of}`,
    });
    note(`#${twin} has the head of #${of} of the other branch`);
    sometimes('one head for two managed branches');
    return true;
  }
}
