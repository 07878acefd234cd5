/** Alternatives inside alternatives deeper than this are no branch rule but an attack on the stack. */
const DEPTH_MAX = 16;

type Token =
  | { readonly kind: 'text'; readonly char: string }
  /** `?`: one character. `*`: any run of characters. Both stop at a separator; `**` does not. */
  | { readonly kind: 'one' }
  | { readonly kind: 'many'; readonly across: boolean }
  | { readonly kind: 'set'; readonly negated: boolean; readonly has: (char: string) => boolean }
  | { readonly kind: 'either'; readonly branches: readonly (readonly Token[])[] };

/** Marks a name that a forge treats as a pattern; any other is compared as it stands. */
export function isGlob(pattern: string): boolean {
  return /[?*\\[\]{}]/.test(pattern);
}

/**
 * Matches the pattern dialect of the forges' branch rules and required status contexts: `*`, `**`, `?`, `[a-z]`,
 * `[!a-z]`, `{one,two}`, `\` escapes. `*` and `?` stop at each character of `separators`; null = at none. Null when the
 * pattern is malformed.
 *
 * Follows all positions at once instead of going back, because the pattern comes from a stranger: its cost is at
 * most pattern length times text length, never exponential.
 */
export function matchGlob(pattern: string, text: string, separators: string | null): boolean | null {
  const tokens = parseGlob([...pattern]);
  if (tokens === null) return null;
  const chars = [...text];
  return advance(tokens, new Set([0]), chars, separators).has(chars.length);
}

function advance(
  tokens: readonly Token[],
  start: ReadonlySet<number>,
  chars: readonly string[],
  separators: string | null,
): ReadonlySet<number> {
  let positions = start;
  for (const token of tokens) positions = step(token, positions, chars, separators);
  return positions;
}

function step(
  token: Token,
  positions: ReadonlySet<number>,
  chars: readonly string[],
  separators: string | null,
): ReadonlySet<number> {
  const next = new Set<number>();
  if (token.kind === 'either') {
    for (const branch of token.branches) {
      for (const position of advance(branch, positions, chars, separators)) next.add(position);
    }
    return next;
  }
  if (token.kind === 'many') {
    for (const from of positions) {
      for (let at = from; !next.has(at); at += 1) {
        next.add(at);
        if (at >= chars.length || (!token.across && isSeparator(chars[at], separators))) break;
      }
    }
    return next;
  }
  for (const at of positions) {
    const char = chars[at];
    if (char !== undefined && acceptsChar(token, char, separators)) next.add(at + 1);
  }
  return next;
}

function acceptsChar(
  token: Exclude<Token, { kind: 'either' | 'many' }>,
  char: string,
  separators: string | null,
): boolean {
  switch (token.kind) {
    case 'text':
      return token.char === char;
    case 'one':
      return !isSeparator(char, separators);
    case 'set':
      return token.has(char) !== token.negated;
  }
}

function isSeparator(char: string | undefined, separators: string | null): boolean {
  return char !== undefined && separators?.includes(char) === true;
}

/** Characters of the pattern and the place of the reader. */
interface Source {
  readonly chars: readonly string[];
  at: number;
}

function parseGlob(chars: readonly string[]): readonly Token[] | null {
  const source: Source = { chars, at: 0 };
  const tokens = parseSequence(source, 0);
  return tokens !== null && source.at === chars.length ? tokens : null;
}

function parseSequence(source: Source, depth: number): readonly Token[] | null {
  if (depth > DEPTH_MAX) return null;
  const tokens: Token[] = [];
  for (;;) {
    const char = source.chars[source.at];
    if (char === undefined || (depth > 0 && (char === ',' || char === '}'))) return tokens;
    const token = parseToken(source, char, depth);
    if (token === null) return null;
    tokens.push(token);
  }
}

function parseToken(source: Source, char: string, depth: number): Token | null {
  source.at += 1;
  switch (char) {
    case '?':
      return { kind: 'one' };
    case '*': {
      const across = source.chars[source.at] === '*';
      if (across) source.at += 1;
      return { kind: 'many', across };
    }
    case '\\': {
      const escaped = source.chars[source.at];
      source.at += 1;
      return escaped === undefined ? null : { kind: 'text', char: escaped };
    }
    case '[':
      return parseSet(source);
    case '{':
      return parseEither(source, depth);
    default:
      return { kind: 'text', char };
  }
}

function parseSet(source: Source): Token | null {
  const negated = source.chars[source.at] === '!';
  if (negated) source.at += 1;
  const end = source.chars.indexOf(']', source.at);
  if (end <= source.at) return null;
  const members = source.chars.slice(source.at, end);
  source.at = end + 1;
  const [low, dash, high] = members;
  if (members.length === 3 && dash === '-' && low !== undefined && high !== undefined) {
    return { kind: 'set', negated, has: (char) => char >= low && char <= high };
  }
  return { kind: 'set', negated, has: (char) => members.includes(char) };
}

function parseEither(source: Source, depth: number): Token | null {
  const branches: (readonly Token[])[] = [];
  for (;;) {
    const branch = parseSequence(source, depth + 1);
    const closing = source.chars[source.at];
    if (branch === null || closing === undefined) return null;
    source.at += 1;
    branches.push(branch);
    if (closing === '}') return { kind: 'either', branches };
  }
}
