/** Events by time, the earliest first; those of one moment in the order in which they were added. */
export class Agenda<What> {
  readonly #heap: { readonly at: number; readonly order: number; readonly what: What }[] = [];
  #added = 0;

  add(at: number, what: What): void {
    const heap = this.#heap;
    this.#added += 1;
    heap.push({ at, order: this.#added, what });
    for (let place = heap.length - 1; place > 0; ) {
      const parent = (place - 1) >> 1;
      if (!this.#isBefore(place, parent)) break;
      this.#swap(place, parent);
      place = parent;
    }
  }

  take(): { readonly at: number; readonly what: What } | null {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined) return null;
    if (heap.length > 0) {
      heap[0] = last;
      for (let place = 0; ; ) {
        const [left, right] = [2 * place + 1, 2 * place + 2];
        let least = place;
        if (left < heap.length && this.#isBefore(left, least)) least = left;
        if (right < heap.length && this.#isBefore(right, least)) least = right;
        if (least === place) break;
        this.#swap(place, least);
        place = least;
      }
    }
    return first;
  }

  #isBefore(one: number, other: number): boolean {
    const [a, b] = [this.#heap[one], this.#heap[other]];
    if (a === undefined || b === undefined) return false;
    return a.at < b.at || (a.at === b.at && a.order < b.order);
  }

  #swap(one: number, other: number): void {
    const heap = this.#heap;
    const [a, b] = [heap[one], heap[other]];
    if (a === undefined || b === undefined) return;
    heap[one] = b;
    heap[other] = a;
  }
}
