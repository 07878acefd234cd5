import type { Effort } from '../effort.ts';
import { matchTokens, type Token } from './glob-tokens.ts';

/** A text that many patterns are held against: it is cut into characters once. */
export class Subject {
  readonly text: string;
  #chars: readonly string[] | null = null;

  constructor(text: string) {
    this.text = text;
  }

  get chars(): readonly string[] {
    this.#chars ??= [...this.text];
    return this.#chars;
  }
}

/** Steps that a native search takes to begin, and characters that it goes through in one more. */
const SEARCH_STEPS = 3;
const SEARCH_CHARS_PER_STEP = 16;

/** A pattern that was read once, for many texts. */
export class Matcher {
  readonly #tokens: readonly Token[];
  /** Each text that matches begins with the first, ends with the second and has the third in it: most are told without a walk. */
  readonly #start: string;
  readonly #end: string;
  readonly #inside: string;

  constructor(tokens: readonly Token[]) {
    this.#tokens = withoutShell(tokens);
    const runs = literalRuns(this.#tokens);
    this.#start = runs[0] ?? '';
    this.#end = runs.at(-1) ?? '';
    this.#inside = runs.reduce((longest, run) => (run.length > longest.length ? run : longest), '');
  }

  /** Throws `EffortSpent`. */
  matches(subject: Subject, effort: Effort): boolean {
    effort.spend(1);
    const { text } = subject;
    if (!text.startsWith(this.#start) || !text.endsWith(this.#end)) return false;
    effort.spend(SEARCH_STEPS + text.length / SEARCH_CHARS_PER_STEP);
    return text.includes(this.#inside) && matchTokens(this.#tokens, subject.chars, effort);
  }
}

/** One dialect puts a whole pattern into an alternative of one branch. */
function withoutShell(tokens: readonly Token[]): readonly Token[] {
  const [first] = tokens;
  if (tokens.length !== 1 || first?.kind !== 'either' || first.branches.length !== 1) return tokens;
  return withoutShell(first.branches[0] ?? []);
}

/** The characters that stand in a row, between all other tokens: one run more than there are such tokens. */
function literalRuns(tokens: readonly Token[]): readonly string[] {
  const runs: string[] = [];
  let run: string[] = [];
  for (const token of tokens) {
    const char = token.kind === 'one' ? token.char : undefined;
    if (char === undefined) {
      runs.push(run.join(''));
      run = [];
    } else run.push(char);
  }
  return [...runs, run.join('')];
}
