import type { Effort } from '../effort.ts';

/**
 * One step of a pattern that was read. `has` says which characters it takes; `char` is there where it takes exactly one, and
 * `members` where it asks so many of them for each character.
 */
export type Token =
  | { readonly kind: 'one'; readonly has: Has; readonly char?: string; readonly members?: number }
  | { readonly kind: 'many'; readonly has: Has; readonly members?: number }
  | { readonly kind: 'either'; readonly branches: readonly (readonly Token[])[] };

type Has = (char: string) => boolean;

export const ANYTHING: Token = { kind: 'many', has: () => true };

/** Nested deeper than this, a pattern is no branch rule but an attack on the stack. The forges' own code stops there, too. */
export const GLOB_DEPTH_MAX = 1000;

/** Places in a text, from the first to the last, each once. */
type Places = readonly number[];

/**
 * Follows all places at once instead of going back, because the pattern comes from a stranger: its cost is at
 * most pattern length times text length, never exponential. Throws `EffortSpent`.
 */
export function matchTokens(tokens: readonly Token[], chars: readonly string[], effort: Effort): boolean {
  return advance(tokens, [0], chars, effort).at(-1) === chars.length;
}

function advance(tokens: readonly Token[], start: Places, chars: readonly string[], effort: Effort): Places {
  let places = start;
  for (const token of tokens) {
    if (places.length === 0) return places;
    effort.spend(places.length);
    places = step(token, places, chars, effort);
  }
  return places;
}

function step(token: Token, places: Places, chars: readonly string[], effort: Effort): Places {
  switch (token.kind) {
    case 'one':
      effort.spend(places.length * (token.members ?? 0));
      return takeOne(token.has, places, chars);
    case 'many': {
      effort.spend((chars.length - (places[0] ?? 0)) * (token.members ?? 0));
      const next = takeMany(token.has, places, chars);
      effort.spend(next.length);
      return next;
    }
    case 'either':
      return takeEither(token.branches, places, chars, effort);
  }
}

function takeOne(has: Has, places: Places, chars: readonly string[]): Places {
  const next: number[] = [];
  for (const place of places) {
    const char = chars[place];
    if (char !== undefined && has(char)) next.push(place + 1);
  }
  return next;
}

function takeMany(has: Has, places: Places, chars: readonly string[]): Places {
  const next: number[] = [];
  let last = -1;
  for (const place of places) {
    // A run that began before came through here.
    if (place <= last) continue;
    for (last = place; ; last += 1) {
      next.push(last);
      const char = chars[last];
      if (char === undefined || !has(char)) break;
    }
  }
  return next;
}

function takeEither(
  branches: readonly (readonly Token[])[],
  places: Places,
  chars: readonly string[],
  effort: Effort,
): Places {
  const [first = [], ...others] = branches;
  if (others.length === 0) return advance(first, places, chars, effort);
  effort.spend(branches.length);
  let parts = branches.map((branch) => {
    const ends = advance(branch, places, chars, effort);
    // An empty branch takes no step of its own, and leads on from each place all the same.
    effort.spend(ends.length);
    return ends;
  });
  while (parts.length > 1) {
    const joined: Places[] = [];
    for (let at = 0; at < parts.length; at += 2) {
      const [one = [], other = []] = [parts[at], parts[at + 1]];
      effort.spend(JOIN_STEPS * (one.length + other.length));
      joined.push(joinPlaces(one, other));
    }
    parts = joined;
  }
  return parts[0] ?? [];
}

/** Steps of one place that is put among those of another branch. */
const JOIN_STEPS = 2;

function joinPlaces(one: Places, other: Places): Places {
  if (one.length === 0) return other;
  if (other.length === 0) return one;
  const joined: number[] = [];
  let [left, right] = [0, 0];
  while (left < one.length || right < other.length) {
    const [low = Infinity, high = Infinity] = [one[left], other[right]];
    joined.push(Math.min(low, high));
    if (low <= high) left += 1;
    if (high <= low) right += 1;
  }
  return joined;
}

export function textToken(wanted: string): Token {
  return { kind: 'one', has: (char) => char === wanted, char: wanted };
}

export function isBetween(low: string, char: string, high: string): boolean {
  const [from, code, to] = [codeOf(low), codeOf(char), codeOf(high)];
  return from <= code && code <= to;
}

export function codeOf(char: string): number {
  return char.codePointAt(0) ?? 0;
}
