import { codeOf, isBetween } from './glob-tokens.ts';

type Has = (char: string) => boolean;

interface Source {
  readonly chars: readonly string[];
  at: number;
}

/** Classes of Go's regular expressions: of its syntax for ASCII alone. */
const NAMED: ReadonlyMap<string, RegExp> = new Map([
  ['alnum', /^[0-9A-Za-z]$/],
  ['alpha', /^[A-Za-z]$/],
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the class holds them
  ['ascii', /^[\x00-\x7f]$/],
  ['blank', /^[\t ]$/],
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the class holds them
  ['cntrl', /^[\x00-\x1f\x7f]$/],
  ['digit', /^[0-9]$/],
  ['graph', /^[!-~]$/],
  ['lower', /^[a-z]$/],
  ['print', /^[ -~]$/],
  ['punct', /^[!-/:-@[-`{-~]$/],
  ['space', /^[\t\n\v\f\r ]$/],
  ['upper', /^[A-Z]$/],
  ['word', /^[0-9A-Za-z_]$/],
  ['xdigit', /^[0-9A-Fa-f]$/],
]);

const PERL: ReadonlyMap<string, RegExp> = new Map([
  ['d', /^[0-9]$/],
  ['D', /^[^0-9]$/u],
  ['s', /^[\t\n\f\r ]$/],
  ['S', /^[^\t\n\f\r ]$/u],
  ['w', /^[0-9A-Za-z_]$/],
  ['W', /^[^0-9A-Za-z_]$/u],
]);

const CONTROLS: ReadonlyMap<string, string> = new Map([
  ['a', '\x07'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
]);

/** After a backslash. `char`: the one character that it stands for, null for a class such as `\d`. */
export function parseEscape(source: Source): { readonly char: string | null; readonly has: Has } | null {
  const letter = source.chars[source.at];
  if (letter === undefined) return null;
  source.at += 1;
  const perl = PERL.get(letter);
  if (perl !== undefined) return { char: null, has: (char) => perl.test(char) };
  const escaped = /^[0-9A-Za-z]$/.test(letter) ? CONTROLS.get(letter) : letter;
  if (escaped === undefined || codeOf(escaped) > 0x7f) return null;
  return { char: escaped, has: (char) => char === escaped };
}

/** After the opening of a class. A `]` that comes first is a member, and `-` is one at either end. */
export function parseCharClass(source: Source): { readonly has: Has; readonly members: number } | null {
  const { chars } = source;
  const negated = chars[source.at] === '^';
  if (negated) source.at += 1;
  const members: Has[] = [];
  for (let isFirst = true; isFirst || chars[source.at] !== ']'; isFirst = false) {
    const member = parseNamed(source) ?? parseMember(source);
    if (member === null) return null;
    members.push(member);
  }
  source.at += 1;
  return { has: (char) => members.some((has) => has(char)) !== negated, members: members.length };
}

/** `[:alpha:]`, `[:^alpha:]`. An unknown name is malformed; without its end it is plain characters. */
function parseNamed(source: Source): Has | null {
  const { chars, at } = source;
  if (chars[at] !== '[' || chars[at + 1] !== ':') return null;
  const end = chars.findIndex((char, place) => place >= at + 2 && char === ':' && chars[place + 1] === ']');
  if (end === -1) return null;
  const name = chars.slice(at + 2, end).join('');
  const named = NAMED.get(name.replace(/^\^/, ''));
  if (named === undefined) {
    source.at = chars.length;
    return null;
  }
  source.at = end + 2;
  const isOther = name.startsWith('^');
  return (char) => named.test(char) !== isOther;
}

function parseMember(source: Source): Has | null {
  const low = parseMemberChar(source);
  if (low === null) return null;
  const { chars } = source;
  const [dash, next] = chars.slice(source.at, source.at + 2);
  if (dash !== '-' || next === undefined || next === ']' || low.char === null) return low.has;
  source.at += 1;
  const high = parseMemberChar(source)?.char ?? null;
  const { char: from } = low;
  if (high === null || codeOf(high) < codeOf(from)) return null;
  return (char) => isBetween(from, char, high);
}

function parseMemberChar(source: Source): { readonly char: string | null; readonly has: Has } | null {
  const char = source.chars[source.at];
  if (char === undefined) return null;
  source.at += 1;
  return char === '\\' ? parseEscape(source) : { char, has: (other) => other === char };
}
