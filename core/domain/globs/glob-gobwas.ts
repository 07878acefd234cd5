import { codeOf, GLOB_DEPTH_MAX, isBetween, type Token, textToken } from './glob-tokens.ts';

/** Characters of the pattern and the place of the reader. */
interface Source {
  readonly chars: readonly string[];
  readonly separators: string;
  at: number;
}

/**
 * As the library `gobwas/glob` reads it: a class is one range or one list of characters, never both, and an alternative
 * that is not closed ends with the pattern. Null: malformed.
 */
export function parseGobwasGlob(pattern: string, separators: string): readonly Token[] | null {
  return parseSequence({ chars: [...pattern], separators, at: 0 }, 0);
}

function parseSequence(source: Source, depth: number): readonly Token[] | null {
  if (depth > GLOB_DEPTH_MAX) return null;
  const tokens: Token[] = [];
  for (;;) {
    const char = source.chars[source.at];
    if (char === undefined || (depth > 0 && (char === ',' || char === '}'))) return tokens;
    source.at += 1;
    const token = parseToken(source, char, depth);
    if (token === null) return null;
    tokens.push(...token);
  }
}

function parseToken(source: Source, char: string, depth: number): readonly Token[] | null {
  const inside = (other: string): boolean => !source.separators.includes(other);
  switch (char) {
    case '?':
      return [{ kind: 'one', has: inside }];
    case '*': {
      if (source.chars[source.at] !== '*') return [{ kind: 'many', has: inside }];
      source.at += 1;
      return [{ kind: 'many', has: () => true }];
    }
    case '\\': {
      const escaped = source.chars[source.at];
      source.at += 1;
      // At the very end it stands for nothing.
      return escaped === undefined ? [] : [textToken(escaped)];
    }
    case '[':
      return parseClass(source);
    case '{':
      return parseEither(source, depth);
    default:
      return [textToken(char)];
  }
}

function parseClass(source: Source): readonly Token[] | null {
  const { chars } = source;
  const negated = chars[source.at] === '!';
  if (negated) source.at += 1;
  const [low, dash, high, close] = chars.slice(source.at, source.at + 4);
  if (low !== undefined && dash === '-') {
    if (high === undefined || close !== ']' || codeOf(high) < codeOf(low)) return null;
    source.at += 4;
    return [{ kind: 'one', has: (char) => isBetween(low, char, high) !== negated }];
  }
  const members = new Set<string>();
  for (;;) {
    let char = chars[source.at];
    source.at += 1;
    if (char === ']') break;
    if (char === '\\') {
      char = chars[source.at];
      source.at += 1;
    }
    if (char === undefined) return null;
    members.add(char);
  }
  return members.size === 0 ? null : [{ kind: 'one', has: (char) => members.has(char) !== negated }];
}

function parseEither(source: Source, depth: number): readonly Token[] | null {
  const branches: (readonly Token[])[] = [];
  for (;;) {
    const branch = parseSequence(source, depth + 1);
    if (branch === null) return null;
    branches.push(branch);
    const closing = source.chars[source.at];
    source.at += 1;
    if (closing !== ',') return [{ kind: 'either', branches }];
  }
}
