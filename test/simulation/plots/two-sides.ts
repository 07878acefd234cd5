import type { Plot, Stagehand } from '../plot.ts';

/** Files that both sides change: the forge merges them in its own way. */
export class TwoSides implements Plot {
  readonly #hand: Stagehand;

  constructor(hand: Stagehand) {
    this.#hand = hand;
  }

  async open(): Promise<boolean> {
    const { forge, random, odds, note, sometimes } = this.#hand;
    if (!random.chance(odds().otherMerges + odds().otherTrees)) return false;
    const now = await forge.readFiles(await forge.tip(forge.base));
    const lines = (now.get('lines.txt') ?? '').split('\n').slice(0, -1);
    const name = this.#hand.takeName();
    const at = random.int(Math.max(1, lines.length));
    const content = `${lines.map((line, index) => (index === at ? name : line)).join('\n')}\n`;
    const pr = await this.#hand.open({
      branch: name,
      title: `Line ${name}`,
      files: { 'lines.txt': content },
    });
    note(`#${pr} changes line ${at}`);
    sometimes('a file changed on both sides');
    return true;
  }

  async isTold(pr: number, words: string): Promise<boolean> {
    const { forge } = this.#hand;
    const isConflict = forge.previewMerge(forge.tipOfBase(), forge.headOf(pr)) === null;
    return isConflict && words.startsWith('refused: git merges it, but the forge calls it a conflict');
  }
}
