import { Needles } from './needles.ts';

export interface Canary {
  readonly name: string;
  readonly value: string;
}

/** Pieces of this length are as good as the whole. */
const PIECE_CHARS = 12;

/** Names of canaries that occur in a text: plain, in pieces, or in base64, hex or URL form. */
export function findLeaks(canaries: readonly Canary[], texts: readonly string[]): readonly string[] {
  const found: string[] = [];
  const all = canaries.map(({ name, value }) => ({ name, value, forms: formsOf(value) }));
  const forms = all.flatMap((canary) => canary.forms);
  const exact = new Needles(forms.filter((form) => form.exact).map(({ needle }) => needle));
  const folded = new Needles(forms.filter((form) => !form.exact).map(({ needle }) => needle));
  for (const text of texts) {
    const unescaped = unescapePercent(text);
    const there = exact.findIn(text);
    const thereFolded = folded.findIn(text.toLowerCase());
    for (const { name, value, forms } of all) {
      const form = forms.find(({ needle, exact }) => (exact ? there : thereFolded).has(needle));
      if (form !== undefined) found.push(`${name} as ${form.kind}`);
      else if (unescaped?.includes(value) === true) found.push(`${name} as URL form`);
    }
  }
  return found;
}

/** URLs may escape any part of what they carry. Null: nothing is escaped. */
function unescapePercent(text: string): string | null {
  if (!text.includes('%')) return null;
  return text.replace(/%([0-9a-f]{2})/gi, (_escaped, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

interface Form {
  readonly kind: string;
  readonly needle: string;
  readonly exact: boolean;
}

function formsOf(value: string): readonly Form[] {
  const forms: Form[] = [
    { kind: 'hex', needle: Buffer.from(value).toString('hex'), exact: false },
    {
      kind: 'URL form',
      needle: [...Buffer.from(value)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
      exact: false,
    },
    { kind: 'URL form', needle: encodeURIComponent(value), exact: true },
  ];
  // Inside a longer text base64 shifts by the bytes before it; the ends depend on the neighbours and are left out.
  for (let shift = 0; shift < 3; shift += 1) {
    const encoded = Buffer.concat([Buffer.alloc(shift), Buffer.from(value)]).toString('base64');
    const core = encoded.slice(shift === 0 ? 0 : 4, -4);
    forms.push({ kind: 'base64', needle: core, exact: true });
    forms.push({ kind: 'base64', needle: core.replaceAll('+', '-').replaceAll('/', '_'), exact: true });
  }
  for (let start = 0; start + PIECE_CHARS <= value.length; start += 1) {
    forms.push({ kind: 'a piece', needle: value.slice(start, start + PIECE_CHARS), exact: true });
  }
  return forms;
}
