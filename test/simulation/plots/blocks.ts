import type { Plot, Stagehand } from '../plot.ts';

/** Pull requests that the forge never merges by itself, and those that it merges only after another event (D-14). */
export class Blocks implements Plot {
  readonly #hand: Stagehand;
  readonly #protected = new Set<number>();
  readonly #dependsOn = new Map<number, number>();

  constructor(hand: Stagehand) {
    this.#hand = hand;
  }

  async open(): Promise<boolean> {
    const { forge, random, odds, prs, note, sometimes } = this.#hand;
    if (!random.chance(odds().blocks)) return false;
    const name = this.#hand.takeName();
    if (prs.length === 0 || random.chance(0.5)) {
      await forge.setProtection({ protectedFilePatterns: 'secrets/**' });
      this.#protected.add(await this.#hand.open({ branch: name, files: { [`secrets/${name}.txt`]: name } }));
      sometimes('a protected file');
      return true;
    }
    const on = prs[random.int(prs.length)] ?? 0;
    const pr = await this.#hand.open({ branch: name, files: { [`src/${name}.txt`]: `${name}\n` } });
    await forge.addDependency(pr, on);
    this.#dependsOn.set(pr, on);
    note(`#${pr} depends on #${on}`);
    sometimes('a dependency');
    return true;
  }

  async isTold(pr: number, words: string): Promise<boolean> {
    if (words.startsWith('refused: it changes files that the branch rule protects'))
      return this.#protected.has(pr);
    const on = this.#dependsOn.get(pr);
    if (on === undefined || !words.startsWith('refused: an issue or pull request that it depends on is open'))
      return false;
    return (await this.#hand.forge.pull(on)).state === 'open';
  }
}
