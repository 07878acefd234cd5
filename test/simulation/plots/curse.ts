import type { AbstractForge } from '../../fakes/abstract-forge/abstract-forge.ts';
import type { Plot, Stagehand } from '../plot.ts';

const CURSES = ['staging', 'listing', 'timeline', 'reviews', 'pull', 'statuses'] as const;
type CurseKind = (typeof CURSES)[number];
/** The queue knows who it is and that it is scheduled: then its author is told. */
const TOLD_CURSES: readonly CurseKind[] = ['staging', 'listing'];
const TOLD = /^(refused|waiting|bounced): /;

/** Something about one pull request makes the forge fail, and that never passes. The others are none the wiser. */
export class Curse implements Plot {
  readonly #hand: Stagehand;
  readonly #kind: CurseKind;
  readonly #status: number;
  #cursed: { readonly pr: number; readonly path: string } | null = null;
  #opened = 0;

  constructor(hand: Stagehand) {
    this.#hand = hand;
    this.#kind = hand.random.pick(CURSES);
    this.#status = hand.random.pick([500, 500, 502, 404, 0]);
    const others = hand.forge.fault;
    hand.forge.fault = (call) => (this.#strikes(call) ? { status: this.#status } : others(call));
  }

  async open(): Promise<boolean> {
    const { note, sometimes } = this.#hand;
    this.#opened += 1;
    if (this.#cursed !== null || this.#opened < 2) return false;
    const name = this.#hand.takeName();
    const path = `src/cursed-${name}.txt`;
    const pr = await this.#hand.open({ branch: name, title: `Add ${name}`, files: { [path]: `${name}\n` } });
    this.#cursed = { pr, path };
    note(`#${pr} is cursed: ${this.#kind} answers ${this.#status}`);
    sometimes(`cursed ${this.#kind}`);
    return true;
  }

  #strikes({ method, path, about }: Parameters<AbstractForge['fault']>[0]): boolean {
    if (this.#cursed === null) return false;
    const { pr, path: file } = this.#cursed;
    switch (this.#kind) {
      case 'staging':
        return about?.includes(file) === true;
      case 'timeline':
        return path.endsWith(`/issues/${pr}/timeline`);
      case 'reviews':
        return path.endsWith(`/pulls/${pr}/reviews`);
      case 'pull':
        return method === 'GET' && path.endsWith(`/pulls/${pr}`);
      case 'listing':
        return path.endsWith(`/git/trees/${this.#hand.forge.headOf(pr)}`);
      case 'statuses':
        return method === 'GET' && path.endsWith(`/commits/${this.#hand.forge.headOf(pr)}/status`);
    }
  }

  /** Of what cannot be read nothing can be told: asked is only that no other waits for it. */
  async isTold(pr: number, words: string): Promise<boolean> {
    if (pr !== this.#cursed?.pr) return false;
    return !TOLD_CURSES.includes(this.#kind) || TOLD.test(words);
  }
}
