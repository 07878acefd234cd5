/**
 * Acts of people while the queue works. The story does not wait for one that is under way: a gate run that another act hangs on
 * is over within seconds.
 */
export class Acts {
  readonly #begun = new Set<string>();
  readonly #underWay: Promise<void>[] = [];
  readonly #remember: (name: string) => void;
  #fault: { readonly error: unknown } | null = null;

  /** `done`: names of acts that an earlier start has seen through. `remember` is told of each one that ends well. */
  constructor(done: readonly string[], remember: (name: string) => void) {
    for (const name of done) this.#begun.add(name);
    this.#remember = remember;
  }

  /** Begins an act, unless it was begun. Throws what one before it has thrown. */
  begin(name: string, run: () => Promise<void>): void {
    this.check();
    if (this.#begun.has(name)) return;
    this.#begun.add(name);
    this.#underWay.push(
      run().then(
        () => this.#remember(name),
        (error: unknown) => {
          this.#fault ??= { error };
        },
      ),
    );
  }

  /** Throws what an act has thrown. */
  check(): void {
    if (this.#fault !== null) throw this.#fault.error;
  }

  /** Waits for all that were begun. Throws what one has thrown. */
  async end(): Promise<void> {
    await Promise.all(this.#underWay);
    this.check();
  }
}
