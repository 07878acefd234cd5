const MASK = '***';
/**
 * Length from which on the encodings of a secret are hidden too; those of a shorter one would be found in text by
 * chance.
 */
const SPELLED_CHARS_MIN = 8;

/** Keeps secrets out of all that leaves: a server or a log may say back what was sent, and others read what is printed. */
export class Secrets {
  #spellings: readonly string[] = [];

  constructor(secrets: readonly (string | undefined)[]) {
    for (const secret of secrets) this.add(secret ?? '');
  }

  add(text: string): void {
    // A header has no space at its ends, so a server never saw the line break of a file.
    const secret = text.trim();
    if (secret === '') return;
    // One secret may begin with another: the longest first, or its rest would stay.
    this.#spellings = [...new Set([...this.#spellings, ...spell(secret)])].sort(
      (one, other) => other.length - one.length,
    );
  }

  hide(text: string): string {
    return this.#spellings.reduce((hidden, spelling) => hidden.replaceAll(spelling, MASK), text);
  }
}

/**
 * Spellings of a secret: plain, in JSON (once and twice quoted), percent-encoded, in hex, and in Base64 at each of the
 * three offsets, as within `user:token` of a header.
 */
function spell(secret: string): readonly string[] {
  const inJson = quote(secret);
  const plainly = [secret, inJson, quote(inJson)];
  if (secret.length < SPELLED_CHARS_MIN) return plainly;
  const bytes = Buffer.from(secret);
  const hex = bytes.toString('hex');
  const inAddress = encodeURIComponent(secret);
  const inBase64 = [0, 1, 2].flatMap((offset) => {
    const shifted = Buffer.concat([Buffer.alloc(offset), bytes]);
    // The characters at the ends are made of neighbours too.
    const [from, to] = [Math.ceil((offset * 8) / 6), Math.floor((shifted.length * 8) / 6)];
    return [shifted.toString('base64').slice(from, to), shifted.toString('base64url').slice(from, to)];
  });
  return [
    ...plainly,
    inAddress,
    inAddress.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    hex,
    hex.toUpperCase(),
    ...inBase64,
  ];
}

const quote = (text: string): string => JSON.stringify(text).slice(1, -1);

/** Applies `change` to every text within a value; names of fields stay. */
export function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((part) => mapTexts(part, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, mapTexts(part, change)]));
}
