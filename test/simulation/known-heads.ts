/** Each head of each pull request of a project, and who asked for it. */
export class KnownHeads {
  readonly #heads = new Map<number, string[]>();
  readonly #askers = new Map<string, Set<string>>();

  remember(pr: number, head: string): void {
    const heads = this.#heads.get(pr) ?? [];
    if (!heads.includes(head)) heads.push(head);
    this.#heads.set(pr, heads);
  }

  /** Oldest first. */
  of(pr: number): readonly string[] {
    return this.#heads.get(pr) ?? [];
  }

  /** Pull requests that ever had it as their head. */
  pullsOf(sha: string): readonly number[] {
    return [...this.#heads].filter(([, heads]) => heads.includes(sha)).map(([pr]) => pr);
  }

  noteAsked(head: string, by: string): void {
    this.#askers.set(head, (this.#askers.get(head) ?? new Set()).add(by));
  }

  /** A person with the right asked for this head: pressed the button on it, pushed it under a schedule, or approved it there. */
  wasScheduled(sha: string): boolean {
    return this.#askers.has(sha);
  }

  /** Accounts that asked for a head. */
  askersOf(sha: string): readonly string[] {
    return [...(this.#askers.get(sha) ?? [])];
  }
}
