import { parseGiteaGlob } from './glob-gitea.ts';
import { parseGobwasGlob } from './glob-gobwas.ts';
import { matchTokens, type Token } from './glob-tokens.ts';

/** Whose code reads a pattern: the library `gobwas/glob`, or Gitea's own since 1.25 (forge facts, 4). */
export type GlobDialect = 'gobwas' | 'gitea';

const PARSERS: Readonly<
  Record<GlobDialect, (pattern: string, separators: string) => readonly Token[] | null>
> = { gobwas: parseGobwasGlob, gitea: parseGiteaGlob };

/** Longer than the name of any rule or check. To read millions of characters takes the engine of all repositories half a minute. */
const GLOB_CHARS_MAX = 4_096;

/** Marks a name that a forge treats as a pattern; any other is compared as it stands. */
export function isGlob(pattern: string): boolean {
  return /[?*\\[\]{}]/.test(pattern);
}

/** Could two versions of a forge read it differently? Stars and question marks mean the same everywhere. */
export function isReadDifferently(pattern: string): boolean {
  return /[\\[\]{}]/.test(pattern);
}

/**
 * Matches the patterns of the forges' branch rules and required status contexts: `*`, `**`, `?`, `[a-z]`, `[!a-z]`,
 * `{one,two}`, `\` escapes. `*` and `?` stop at each character of `separators`; null = at none. Null when the
 * pattern is malformed, or longer than `GLOB_CHARS_MAX`.
 */
export function matchGlob(
  pattern: string,
  text: string,
  separators: string | null,
  dialect: GlobDialect,
): boolean | null {
  if (pattern.length > GLOB_CHARS_MAX) return null;
  const tokens = PARSERS[dialect](pattern, separators ?? '');
  return tokens === null ? null : matchTokens(tokens, text);
}

/**
 * Does any forge read it so? For what has to be refused where it is not known which forge reads it. A pattern that is too long
 * to be read may match.
 */
export function mayMatchGlob(pattern: string, text: string, separators: string | null): boolean {
  return (
    pattern.length > GLOB_CHARS_MAX ||
    matchGlob(pattern, text, separators, 'gitea') === true ||
    matchGlob(pattern, text, separators, 'gobwas') === true
  );
}
