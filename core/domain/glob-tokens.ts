/** One step of a pattern that was read. `has` says which characters it takes. */
export type Token =
  | { readonly kind: 'one'; readonly has: (char: string) => boolean }
  | { readonly kind: 'many'; readonly has: (char: string) => boolean }
  | { readonly kind: 'either'; readonly branches: readonly (readonly Token[])[] };

export const ANYTHING: Token = { kind: 'many', has: () => true };

/** Nested deeper than this, a pattern is no branch rule but an attack on the stack. The forges' own code stops there, too. */
export const GLOB_DEPTH_MAX = 1000;

/**
 * Follows all positions at once instead of going back, because the pattern comes from a stranger: its cost is at
 * most pattern length times text length, never exponential.
 */
export function matchTokens(tokens: readonly Token[], text: string): boolean {
  const chars = [...text];
  return advance(tokens, new Set([0]), chars).has(chars.length);
}

function advance(
  tokens: readonly Token[],
  start: ReadonlySet<number>,
  chars: readonly string[],
): ReadonlySet<number> {
  let positions = start;
  for (const token of tokens) positions = step(token, positions, chars);
  return positions;
}

function step(token: Token, positions: ReadonlySet<number>, chars: readonly string[]): ReadonlySet<number> {
  const next = new Set<number>();
  if (token.kind === 'either') {
    for (const branch of token.branches) {
      for (const position of advance(branch, positions, chars)) next.add(position);
    }
    return next;
  }
  for (const from of positions) {
    if (token.kind === 'one') {
      const char = chars[from];
      if (char !== undefined && token.has(char)) next.add(from + 1);
      continue;
    }
    for (let at = from; !next.has(at); at += 1) {
      next.add(at);
      const char = chars[at];
      if (char === undefined || !token.has(char)) break;
    }
  }
  return next;
}

export function textToken(wanted: string): Token {
  return { kind: 'one', has: (char) => char === wanted };
}

export function isBetween(low: string, char: string, high: string): boolean {
  const [from, code, to] = [codeOf(low), codeOf(char), codeOf(high)];
  return from <= code && code <= to;
}

export function codeOf(char: string): number {
  return char.codePointAt(0) ?? 0;
}
