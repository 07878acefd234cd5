import { parseCharClass, parseEscape } from './glob-char-class.ts';
import { ANYTHING, GLOB_DEPTH_MAX, type Token, textToken } from './glob-tokens.ts';

/**
 * As Gitea reads it since 1.25: it writes a regular expression out of the pattern and leaves the rest to Go. So a class holds
 * several ranges, `[^x]` is negated as well as `[!x]`, and `{a,b` that is not closed splits the whole expression: what
 * begins with `a` or ends with `b`. Null: malformed, or an escape of Go's that no name needs (`\p`, `\Q`, `\x`, `\b`).
 */
export function parseGiteaGlob(pattern: string, separators: string): readonly Token[] | null {
  const written = writeExpression([...pattern], separators);
  if (written === null) return null;
  const source: Source = { chars: [...written], at: 0 };
  const branches = parseBranches(source, 0);
  if (branches === null || source.at < source.chars.length) return null;
  const last = branches.length - 1;
  // The anchors hold the first branch at its start and the last one at its end, and no others.
  const anchored = branches.map((branch, at) => [
    ...(at === 0 ? [] : [ANYTHING]),
    ...branch,
    ...(at === last ? [] : [ANYTHING]),
  ]);
  return [{ kind: 'either', branches: anchored }];
}

interface Writer {
  readonly chars: readonly string[];
  readonly inside: string;
  at: number;
}

function writeExpression(chars: readonly string[], separators: string): string | null {
  const inside = separators === '' ? '.' : `[^${separators.replaceAll('.', '\\.')}]`;
  return writePart({ chars, inside, at: 0 }, 0);
}

function writePart(writer: Writer, depth: number): string | null {
  if (depth > GLOB_DEPTH_MAX) return null;
  let out = '';
  for (;;) {
    const char = writer.chars[writer.at];
    // Not closed, it gets no brackets either.
    if (char === undefined) return out;
    writer.at += 1;
    if (depth > 0 && char === '}') return `(${out})`;
    const part = writeToken(writer, char, depth);
    if (part === null) return null;
    out += part;
  }
}

function writeToken(writer: Writer, char: string, depth: number): string | null {
  switch (char) {
    case '*': {
      if (writer.chars[writer.at] !== '*') return `${writer.inside}*`;
      writer.at += 1;
      return '.*';
    }
    case '?':
      return writer.inside;
    case '[':
      return writeClass(writer);
    case '{':
      return writePart(writer, depth + 1);
    case ',':
      return depth > 0 ? '|' : ',';
    case '\\': {
      const escaped = writer.chars[writer.at];
      writer.at += 1;
      return escaped === undefined ? null : `\\${escaped}`;
    }
    default:
      return '.+^$()|'.includes(char) ? `\\${char}` : char;
  }
}

/** Ends at the first `]`, although Go takes one right after the opening for a member and reads on. */
function writeClass(writer: Writer): string | null {
  let out = '[';
  if (writer.chars[writer.at] === '!') {
    writer.at += 1;
    out += '^';
  }
  for (;;) {
    const char = writer.chars[writer.at];
    if (char === undefined) return null;
    writer.at += 1;
    out += char;
    if (char === ']') return out;
    if (char !== '\\') continue;
    const escaped = writer.chars[writer.at];
    if (escaped === undefined) return null;
    writer.at += 1;
    out += escaped;
  }
}

interface Source {
  readonly chars: readonly string[];
  at: number;
}

function parseBranches(source: Source, depth: number): readonly (readonly Token[])[] | null {
  if (depth > GLOB_DEPTH_MAX) return null;
  const branches: Token[][] = [[]];
  for (;;) {
    const char = source.chars[source.at];
    if (char === undefined || char === ')') return branches;
    if (char === '|') {
      source.at += 1;
      branches.push([]);
      continue;
    }
    const token = parseAtom(source, char, depth);
    if (token === null) return null;
    branches.at(-1)?.push(token);
  }
}

function parseAtom(source: Source, char: string, depth: number): Token | null {
  source.at += 1;
  if (char === '(') {
    const branches = parseBranches(source, depth + 1);
    if (branches === null || source.chars[source.at] !== ')') return null;
    source.at += 1;
    return { kind: 'either', branches };
  }
  const token = parseOne(source, char);
  if (token?.kind !== 'one' || source.chars[source.at] !== '*') return token;
  source.at += 1;
  const { has, members = 0 } = token;
  return { kind: 'many', has, members };
}

function parseOne(source: Source, char: string): Token | null {
  switch (char) {
    case '*':
      return null;
    case '.':
      return { kind: 'one', has: (other) => other !== '\n' };
    case '[': {
      const read = parseCharClass(source);
      return read === null ? null : { kind: 'one', ...read };
    }
    case '\\': {
      const has = parseEscape(source);
      return has === null ? null : { kind: 'one', has: has.has };
    }
    default:
      return textToken(char);
  }
}
