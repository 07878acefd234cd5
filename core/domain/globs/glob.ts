import { Effort, EffortSpent } from '../effort.ts';
import { parseGiteaGlob } from './glob-gitea.ts';
import { parseGobwasGlob } from './glob-gobwas.ts';
import { Matcher, Subject } from './glob-matcher.ts';
import type { Token } from './glob-tokens.ts';

/** Whose code reads a pattern: the library `gobwas/glob`, or Gitea's own since 1.25 (forge facts, 4). */
export type GlobDialect = 'gobwas' | 'gitea';

const PARSERS: Readonly<
  Record<GlobDialect, (pattern: string, separators: string) => readonly Token[] | null>
> = { gobwas: parseGobwasGlob, gitea: parseGiteaGlob };

/**
 * Steps that the patterns of one question may take together, those of reading them included: about a quarter of a second. A
 * thousand patterns against ten thousand files take fewer, as long as most files are told by the letters of a pattern alone.
 */
export const GLOB_STEPS_MAX = 20_000_000;

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

/** Steps that the reading of a pattern takes, beside those of its characters: what is kept of each takes memory, too. */
const READ_STEPS = 500;
const READ_STEPS_OF_CHAR = 100;

/**
 * Reads the patterns of the forges' branch rules and required status contexts, each of them once: `*`, `**`, `?`, `[a-z]`,
 * `[!a-z]`, `{one,two}`, `\` escapes. `*` and `?` stop at each character of `separators`; null = at none.
 */
export class GlobReader {
  readonly effort: Effort;
  readonly #dialect: GlobDialect;
  readonly #separators: string;
  readonly #read = new Map<string, Matcher | null>();

  constructor(dialect: GlobDialect, separators: string | null, effort: Effort) {
    this.#dialect = dialect;
    this.#separators = separators ?? '';
    this.effort = effort;
  }

  /** Null: malformed. Throws `EffortSpent`, and where the pattern is longer than `GLOB_CHARS_MAX`: what it matches is not known then. */
  matches(pattern: string, subject: Subject): boolean | null {
    return this.read(pattern)?.matches(subject, this.effort) ?? null;
  }

  /** The same for many texts. */
  read(pattern: string): Matcher | null {
    const known = this.#read.get(pattern);
    if (known !== undefined) return known;
    if (pattern.length > GLOB_CHARS_MAX) throw new EffortSpent();
    this.effort.spend(READ_STEPS + READ_STEPS_OF_CHAR * pattern.length);
    const tokens = PARSERS[this.#dialect](pattern, this.#separators);
    const matcher = tokens === null ? null : new Matcher(tokens);
    this.#read.set(pattern, matcher);
    return matcher;
  }
}

/** Patterns of which any may match, as any forge reads them: for what has to be refused then. */
export class GlobSet {
  readonly effort: Effort;
  readonly #plain: ReadonlySet<string>;
  readonly #patterns: readonly { readonly pattern: string; readonly isReadDifferently: boolean }[];
  readonly #gitea: GlobReader;
  readonly #gobwas: GlobReader;

  constructor(
    patterns: readonly string[],
    separators: string | null,
    effort: Effort = new Effort(GLOB_STEPS_MAX),
  ) {
    const all = [...new Set(patterns)];
    this.effort = effort;
    this.#plain = new Set(all.filter((pattern) => !isGlob(pattern)));
    this.#patterns = all
      .filter(isGlob)
      .map((pattern) => ({ pattern, isReadDifferently: isReadDifferently(pattern) }));
    this.#gitea = new GlobReader('gitea', separators, effort);
    this.#gobwas = new GlobReader('gobwas', separators, effort);
  }

  /** True as well where it is not known: a pattern is too long to be read, or all that was asked takes too many steps. */
  mayMatch(text: string): boolean {
    if (this.#plain.has(text)) return true;
    const subject = new Subject(text);
    // Without a class, an escape or an alternative only a line feed is read in two ways.
    const hasFeed = text.includes('\n');
    try {
      return this.#patterns.some(
        (each) =>
          this.#gitea.matches(each.pattern, subject) === true ||
          ((hasFeed || each.isReadDifferently) && this.#gobwas.matches(each.pattern, subject) === true),
      );
    } catch (error) {
      if (error instanceof EffortSpent) return true;
      throw error;
    }
  }
}
