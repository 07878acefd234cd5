import { backportBranch, DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import type { Plot, Stagehand } from '../plot.ts';

/** A branch without a queue that every project has. */
const CARRIED_TO = 'other';

/** Labels of backports to a branch that is there, to one that is not and to the base, and what gets in their way. */
export class Backports implements Plot {
  readonly #hand: Stagehand;

  constructor(hand: Stagehand) {
    this.#hand = hand;
  }

  async open(): Promise<boolean> {
    const { random, odds, takeName } = this.#hand;
    if (!random.chance(odds().backports)) return false;
    const branch = takeName();
    const pr = await this.#hand.open({ branch, files: { [`src/${branch}.txt`]: `${branch}\n` } });
    if (random.chance(0.3)) await this.#bringTo(pr);
    for (const name of [CARRIED_TO, CARRIED_TO, 'v99', 'main'])
      if (random.chance(0.4)) await this.#label(pr, name);
    return true;
  }

  async act(): Promise<boolean> {
    const { forge, random, odds, prs, note, sometimes } = this.#hand;
    if (prs.length === 0 || !random.chance(odds().backports)) return false;
    const pr = prs[random.int(prs.length)] ?? 0;
    const head = backportBranch(DEFAULT_SERVICE_NAME, pr, CARRIED_TO);
    const kind = random.int(10);
    if (kind === 0 && !(await forge.branches()).includes(head)) {
      note(`a person makes ${head}`);
      await forge.pushBranch(head, await forge.tip(forge.base));
    } else if (kind === 1) {
      await this.#bringTo(pr);
    } else if (kind === 2) {
      const [made] = forge.pullsFrom(head).filter(({ state }) => state === 'open');
      if (made === undefined) return false;
      sometimes('a backport is closed');
      await forge.close(made.number);
    } else {
      await this.#label(pr, random.pick([CARRIED_TO, CARRIED_TO, CARRIED_TO, 'v99', forge.base]));
    }
    return true;
  }

  async #label(pr: number, branch: string): Promise<void> {
    this.#hand.note(`#${pr} is labelled for a backport to ${branch}`);
    await this.#hand.forge.setLabel(pr, `backport ${branch}`, true, 'dev');
  }

  /** Its file comes to the other branch by hand, as it is or otherwise. */
  async #bringTo(pr: number): Promise<void> {
    const { forge, random, note } = this.#hand;
    const files = await forge.readFiles(forge.headOf(pr));
    const path = [...files.keys()].findLast((each) => each.startsWith('src/')) ?? 'shared.txt';
    note(`${path} of #${pr} comes to ${CARRIED_TO}`);
    const content = random.chance(0.5) ? 'otherwise\n' : (files.get(path) ?? '');
    await forge.pushToBase({ [path]: content }, CARRIED_TO);
  }
}
