/** How the long strings of a JSON text are shortened while it arrives. */
export interface StringCut {
  /** Bytes that are kept of a string; a character or an escape is never torn. */
  readonly keepBytes: number;
  /** Strings with this first letter stay whole, up to so many bytes: who writes one chooses how it begins. @default none */
  readonly whole?: { readonly from: string; readonly bytesMax: number };
  /** Bytes of the text as it is sent. What is kept of it is limited by `bodyBytesMax`. */
  readonly sentBytesMax: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;
/** Hex digits of an escape `\u0000`. */
const HEX_DIGITS = 4;
/** Value of `#escapeLeft` right behind a backslash, when the next byte tells which escape it is. */
const BEHIND_BACKSLASH = 5;
const NEAR_BYTES = 16;
/** Bits that tell a byte in the middle of a UTF-8 character. */
const CONTINUATION_MASK = 0xc0;
const CONTINUATION = 0x80;

/**
 * Shortens the strings of a JSON text piece by piece, so that what people wrote at length is never held in memory. The text
 * stays JSON with the same values in the same places; only the ends of long strings are missing.
 */
export class StringCutter {
  readonly #keepBytes: number;
  readonly #wholeFrom: number | undefined;
  readonly #wholeBytes: number;
  #isInString = false;
  /** Bytes of the string so far. */
  #length = 0;
  /** Bytes of the string that are kept. */
  #keep = 0;
  #isDropping = false;
  /** Bytes that still belong to an escape; behind a backslash one, until it is seen what it is. */
  #escapeLeft = 0;

  constructor({ keepBytes, whole }: StringCut) {
    this.#keepBytes = keepBytes;
    this.#wholeFrom = whole?.from.charCodeAt(0);
    this.#wholeBytes = whole?.bytesMax ?? keepBytes;
  }

  /** The parts of the next piece that are kept. */
  push(piece: Buffer): readonly Buffer[] {
    const kept: Buffer[] = [];
    let from = 0;
    let at = 0;
    while (at < piece.length) {
      if (this.#isInString) {
        const begin = at;
        const wasDropping = this.#isDropping;
        at = wasDropping ? this.#skipDropped(piece, begin) : this.#readString(piece, begin);
        if (!wasDropping && this.#isDropping) kept.push(piece.subarray(from, at));
        if (this.#isInString) continue;
        if (wasDropping) from = at;
        at += 1;
      } else {
        const quote = nextQuote(piece, at);
        if (quote === piece.length) break;
        at = quote + 1;
        this.#isInString = true;
        this.#length = 0;
      }
    }
    if (!this.#isDropping) kept.push(piece.subarray(from));
    return kept;
  }

  /**
   * Reads on until something changes: the string begins to be dropped, or ends; returns the index of its closing quote then.
   * One loop over local names: a megabyte takes a few milliseconds of the thread that serves all tenants.
   */
  #readString(piece: Buffer, begin: number): number {
    let escapeLeft = this.#escapeLeft;
    let at = begin;
    let isOver = false;
    if (this.#length === 0) this.#keep = piece[at] === this.#wholeFrom ? this.#wholeBytes : this.#keepBytes;
    const dropFrom = begin + this.#keep - this.#length;
    for (; at < piece.length; at += 1) {
      const byte = piece[at] as number;
      if (escapeLeft > 0) {
        escapeLeft = escapeLeft === BEHIND_BACKSLASH ? (byte === LETTER_U ? HEX_DIGITS : 0) : escapeLeft - 1;
        continue;
      }
      if (byte === QUOTE) {
        isOver = true;
        break;
      }
      if (at >= dropFrom && (byte & CONTINUATION_MASK) !== CONTINUATION) {
        this.#isDropping = true;
        break;
      }
      if (byte === BACKSLASH) escapeLeft = BEHIND_BACKSLASH;
    }
    this.#escapeLeft = escapeLeft;
    this.#length += at - begin;
    if (isOver) this.#isInString = false;
    return at;
  }

  /**
   * Skips what is dropped of a string: returns the index of its closing quote, or the end of the piece. Megabytes are of this
   * part, so that it looks for the two bytes that matter and counts nothing.
   */
  #skipDropped(piece: Buffer, begin: number): number {
    const first = this.#escapeLeft === BEHIND_BACKSLASH ? begin + 1 : begin;
    const quote = orEnd(piece, piece.indexOf(QUOTE, first));
    const backslash = orEnd(piece, piece.indexOf(BACKSLASH, first));
    let at = Math.min(quote, backslash);
    for (; at < piece.length && piece[at] !== QUOTE; at += 1) if (piece[at] === BACKSLASH) at += 1;
    this.#escapeLeft = at > piece.length ? BEHIND_BACKSLASH : 0;
    if (at >= piece.length) return piece.length;
    this.#isInString = false;
    this.#isDropping = false;
    return at;
  }
}

/** Strings stand close to each other in most texts, where a call for the next one costs more than a look at each byte. */
function nextQuote(piece: Buffer, from: number): number {
  const near = Math.min(piece.length, from + NEAR_BYTES);
  for (let at = from; at < near; at += 1) if (piece[at] === QUOTE) return at;
  return orEnd(piece, piece.indexOf(QUOTE, near));
}

function orEnd(piece: Buffer, index: number): number {
  return index === -1 ? piece.length : index;
}
