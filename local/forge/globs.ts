/** Forgejo reads globs by the library `gobwas/glob`; Gitea from 1.25 writes a regular expression out of them and lets Go read it. */
export type GlobReader = 'gobwas' | 'gitea';

interface GlobOptions {
  /** With a separator (true: `/`; else each character is one) `*` and `?` stop there, `**` crosses it; without, `*` matches anything. */
  readonly separator: boolean | './';
  readonly reader?: GlobReader;
}

const SPECIAL = /[.+^$()|\\/{}[\]*?]/;

/** Compiles the glob dialect of branch rules, required contexts and hook filters. Never throws: a broken one matches itself. */
export function compileGlob(pattern: string, options: GlobOptions): RegExp {
  return tryCompileGlob(pattern, options) ?? new RegExp(`^${[...pattern].map(escapeChar).join('')}$`);
}

/** Null: malformed. */
export function tryCompileGlob(
  pattern: string,
  { separator, reader = 'gobwas' }: GlobOptions,
): RegExp | null {
  const any = separator === './' ? '[^./]' : separator ? '[^/]' : '[\\s\\S]';
  const source: Source = { pattern, any, reader, at: 0 };
  try {
    return new RegExp(`^${translate(source, 0)}$`);
  } catch {
    return null;
  }
}

interface Source {
  readonly pattern: string;
  readonly any: string;
  readonly reader: GlobReader;
  at: number;
}

function translate(source: Source, depth: number): string {
  const { pattern, any, reader } = source;
  let out = '';
  while (source.at < pattern.length) {
    const char = pattern[source.at++] ?? '';
    if (char === '\\') out += translateEscape(source);
    else if (char === '*' && pattern[source.at] === '*') {
      out += '[\\s\\S]*';
      source.at++;
    } else if (char === '*') out += `${any}*`;
    else if (char === '?') out += any;
    else if (char === '[') out += reader === 'gitea' ? giteaClass(source) : gobwasClass(source);
    else if (char === '{') out += translate(source, depth + 1);
    else if (char === '}' && depth > 0) return `(?:${out})`;
    else if (char === ',' && depth > 0) out += '|';
    else out += escapeChar(char);
  }
  // An alternative that is not closed: Gitea forgets the brackets, so that it splits the whole expression.
  return depth > 0 && reader === 'gobwas' ? `(?:${out})` : out;
}

function translateEscape(source: Source): string {
  const char = source.pattern[source.at++];
  if (source.reader === 'gobwas') return char === undefined ? '' : escapeChar(char);
  return giteaEscape(char);
}

/** Go knows a few letters after a backslash, and takes every other for a mistake. */
function giteaEscape(char: string | undefined): string {
  if (char === undefined) throw new Error('nothing to escape');
  if (char === 'a') return '\\x07';
  if (/[A-Za-z0-9]/.test(char) && !/[dDsSwWfnrtv]/.test(char)) throw new Error('no such escape');
  return `\\${char}`;
}

/** Ends at the first `]`, but Go takes one that comes first for a member and reads on. */
function giteaClass(source: Source): string {
  const { pattern } = source;
  let out = '[';
  if (pattern[source.at] === '!' || pattern[source.at] === '^') {
    source.at++;
    out += '^';
  }
  if (pattern[source.at] === ']') {
    source.at++;
    out += '\\]';
  }
  for (;;) {
    const char = pattern[source.at++];
    if (char === undefined) throw new Error('open class');
    out += char === '\\' ? giteaEscape(pattern[source.at++]) : char;
    if (char === ']') return out;
  }
}

/** One range or one list, never both. */
function gobwasClass(source: Source): string {
  const { pattern } = source;
  const isNegated = pattern[source.at] === '!';
  if (isNegated) source.at++;
  const [low = '', dash, high, close] = pattern.slice(source.at, source.at + 4);
  const open = isNegated ? '[^' : '[';
  if (dash === '-') {
    if (high === undefined || close !== ']') throw new Error('open range');
    source.at += 4;
    return `${open}${escapeMember(low)}-${escapeMember(high)}]`;
  }
  let members = '';
  for (;;) {
    let char = pattern[source.at++];
    if (char === ']') break;
    if (char === '\\') char = pattern[source.at++];
    if (char === undefined) throw new Error('open class');
    members += escapeMember(char);
  }
  if (members === '') throw new Error('empty class');
  return `${open}${members}]`;
}

function escapeMember(char: string): string {
  return /[\]\\^-]/.test(char) ? `\\${char}` : char;
}

function escapeChar(char: string): string {
  return SPECIAL.test(char) ? `\\${char}` : char;
}

export function isGlob(pattern: string): boolean {
  return /[*?[\]{}\\]/.test(pattern);
}
