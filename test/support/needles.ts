/** Characters of a needle by which a text is looked through. */
const GRAM_CHARS = 4;
const FILTER_SLOTS = 1 << 16;

/** Many words looked for in one pass over a text: `includes` for each of them reads it hundreds of times. */
export class Needles {
  readonly #byGram = new Map<number, string[]>();
  /** Whether a gram with this hash begins a needle: most places of a text need no look into the map. */
  readonly #filter = new Uint8Array(FILTER_SLOTS);
  readonly #short: readonly string[];

  constructor(needles: Iterable<string>) {
    const all = [...new Set(needles)];
    this.#short = all.filter((needle) => needle.length < GRAM_CHARS);
    for (const needle of all) {
      if (needle.length < GRAM_CHARS) continue;
      let gram = 0;
      for (let at = 0; at < GRAM_CHARS; at += 1) gram = roll(gram, needle.charCodeAt(at));
      this.#filter[slotOf(gram)] = 1;
      const same = this.#byGram.get(gram);
      if (same === undefined) this.#byGram.set(gram, [needle]);
      else same.push(needle);
    }
  }

  /** The needles that the text contains. */
  findIn(text: string): ReadonlySet<string> {
    const found = new Set(this.#short.filter((needle) => text.includes(needle)));
    let gram = 0;
    for (let at = 0; at < text.length; at += 1) {
      gram = roll(gram, text.charCodeAt(at));
      if (this.#filter[slotOf(gram)] === 0) continue;
      const start = at - GRAM_CHARS + 1;
      for (const needle of this.#byGram.get(gram) ?? []) {
        if (text.startsWith(needle, start)) found.add(needle);
      }
    }
    return found;
  }
}

/** The last four characters in 32 bits; a wider character shares its place with others, which costs a comparison. */
function roll(gram: number, code: number): number {
  return (gram << 8) ^ (code & 0xff) ^ (code >> 8);
}

function slotOf(gram: number): number {
  return (gram ^ (gram >>> 16)) & (FILTER_SLOTS - 1);
}
