import {
  DEFAULT_SERVICE_NAME,
  stagingBranch,
  stagingPrefix,
  workPrefix,
} from '#core/domain/queue/queue-names.ts';
import type { Plot, Stagehand } from '../plot.ts';

const OUR_NAMES: readonly [string, ...string[]] = [
  DEFAULT_SERVICE_NAME,
  `${stagingPrefix(DEFAULT_SERVICE_NAME)}main`,
  stagingBranch(DEFAULT_SERVICE_NAME, 'main'),
  `${stagingBranch(DEFAULT_SERVICE_NAME, 'main')}-b`,
  `${stagingBranch(DEFAULT_SERVICE_NAME, 'main')}/deep`,
  `${stagingPrefix(DEFAULT_SERVICE_NAME)}notes`,
  workPrefix(DEFAULT_SERVICE_NAME).slice(0, -1),
  `${workPrefix(DEFAULT_SERVICE_NAME)}main`,
  `${workPrefix(DEFAULT_SERVICE_NAME)}main/notes`,
];

/** People who have branches and tags under the names of the queue, for a while. */
export class TakenNames implements Plot {
  readonly #hand: Stagehand;
  readonly #taken = new Set<string>();

  constructor(hand: Stagehand) {
    this.#hand = hand;
  }

  async act(): Promise<boolean> {
    const { forge, random, odds, note, sometimes } = this.#hand;
    if (!random.chance(odds().takenNames)) return false;
    const [held] = [...this.#taken];
    if (held !== undefined && random.chance(0.5)) {
      await this.#giveBack(held);
      return true;
    }
    const name = random.pick(OUR_NAMES);
    const tip = await forge.tip(forge.base);
    if (random.chance(0.2)) {
      await forge.pushTag(name, tip);
      sometimes('a tag of our name');
    } else {
      const branches = await forge.branches();
      // The queue's own branches there keep people's git from pushing beside or below them.
      const isInTheWay = (other: string) => other.startsWith(`${name}/`) || name.startsWith(`${other}/`);
      if (branches.some(isInTheWay)) return false;
      await forge.pushBranch(name, tip);
      this.#taken.add(name);
      sometimes('a branch of our name');
    }
    note(`a person takes the name ${name}`);
    return true;
  }

  async heal(): Promise<void> {
    for (const name of this.#taken) await this.#giveBack(name);
  }

  async #giveBack(name: string): Promise<void> {
    const { forge, note } = this.#hand;
    this.#taken.delete(name);
    if (!(await forge.branches()).includes(name)) return;
    note(`a person gives the name ${name} back`);
    await forge.deleteBranch(name);
  }
}
