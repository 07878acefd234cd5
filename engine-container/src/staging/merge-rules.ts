import { Effort, EffortSpent } from '#core/domain/effort.ts';
import { GLOB_STEPS_MAX } from '#core/domain/globs/glob.ts';
import type { BlobId, TreeHash } from '#core/domain/ids.ts';
import {
  type Assignment,
  AttributeFiles,
  type Rule,
  type RuleFile,
  type RulePlace,
  ruledPath,
} from './attributes.ts';
import type { Computation, ObjectView } from './objects.ts';
import { Refused } from './refusal.ts';

/** Attributes and macros that git knows without a definition, with their values that change nothing where a merge is clean. */
export type RuleWords = ReadonlyMap<string, ReadonlySet<Assignment['value']>>;

/** A union of what both sides changed is the merge of the text where nothing of it conflicts, which is all that is planned. */
const AS_TEXT: ReadonlySet<Assignment['value']> = new Set([true, null, 'text', 'union']);
/** Those that change how a file merges. */
export const MERGE_WORDS: RuleWords = new Map([
  ['merge', AS_TEXT],
  ['binary', new Set()],
]);
/** Those that change how alike git takes two files to be: where it takes one for binary, CR before LF counts. */
export const LIKENESS_WORDS: RuleWords = new Map([
  ['diff', new Set()],
  ['binary', new Set()],
]);

/** Steps of each word of a macro that is kept by the name it speaks of: that takes memory. */
const MACRO_WORD_STEPS = 20;

/** The part of one `.gitattributes` that speaks of these words. */
interface MergeWords {
  /** For an attribute or macro: names of the macros in it that speak of that one. */
  readonly spokenOfBy: ReadonlyMap<string, readonly string[]>;
  /** Those that do so without a macro of their own. */
  readonly rules: readonly Rule[];
}

/**
 * The `.gitattributes` of some trees, as far as they speak of some words. Which of the trees git reads them from depends on where
 * the forge merges, so all of them count.
 */
export class MergeRules {
  readonly #trees: ReadonlySet<TreeHash>;
  readonly #about: RuleWords;
  readonly #effort = new Effort(GLOB_STEPS_MAX);
  readonly #attributes: AttributeFiles;
  readonly #words = new Map<BlobId, MergeWords>();

  constructor(view: ObjectView, trees: readonly TreeHash[], about: RuleWords) {
    this.#attributes = new AttributeFiles(view, this.#effort);
    this.#trees = new Set(trees);
    this.#about = about;
  }

  get stepsLeft(): number {
    return this.#effort.left;
  }

  /**
   * Throws `Refused` where a rule could make git treat the file at `path` otherwise than its contents say, and where there
   * are more rules than can be read.
   */
  *refuse(path: string): Computation<void> {
    try {
      yield* this.#refuse(path);
    } catch (error) {
      if (error instanceof EffortSpent) throw new Refused('merge_rules');
      throw error;
    }
  }

  *#refuse(path: string): Computation<void> {
    const places = new Map<string, RulePlace>();
    for (const tree of this.#trees) {
      for (const place of yield* this.#attributes.findAbove(tree, path)) {
        places.set(`${place.id} ${place.depth}`, place);
      }
    }
    const read = yield* this.#attributes.read([...places.values()]);
    const files = [...places.values()].map(({ id, depth }) => {
      const file = read.get(id) ?? null;
      if (file === null) throw new Refused('merge_rules');
      return { file, depth, words: this.#wordsOf(id, file) };
    });
    const macros = this.#macrosOf(files.map(({ words }) => words));
    for (const { file, depth, words } of files) {
      const ruled = ruledPath(path, depth);
      for (const rule of this.#rulesOf(file, words, macros)) {
        if (this.#attributes.matches(rule, ruled) !== false) throw new Refused('merge_rules');
      }
    }
  }

  /** Names of all macros that stand for one of the words, be it through further macros. */
  #macrosOf(files: readonly MergeWords[]): ReadonlySet<string> {
    const macros = new Set<string>();
    const pending = [...this.#about.keys()];
    for (let word = pending.pop(); word !== undefined; word = pending.pop()) {
      this.#effort.spend(files.length);
      for (const { spokenOfBy } of files) {
        const names = spokenOfBy.get(word) ?? [];
        this.#effort.spend(names.length);
        for (const name of names) {
          if (macros.has(name)) continue;
          macros.add(name);
          pending.push(name);
        }
      }
    }
    return macros;
  }

  #wordsOf(id: BlobId, { macros, rules }: RuleFile): MergeWords {
    const known = this.#words.get(id);
    if (known !== undefined) return known;
    const spokenOfBy = new Map<string, string[]>();
    for (const [name, assignments] of macros) {
      this.#effort.spend(MACRO_WORD_STEPS * assignments.length);
      for (const { attribute, value } of assignments) {
        if (this.#about.get(attribute)?.has(value) === true) continue;
        const names = spokenOfBy.get(attribute);
        if (names === undefined) spokenOfBy.set(attribute, [name]);
        else names.push(name);
      }
    }
    const words = {
      spokenOfBy,
      rules: rules.filter(({ assignments }) => this.#speaks(assignments)),
    };
    this.#words.set(id, words);
    return words;
  }

  #speaks(assignments: readonly Assignment[]): boolean {
    return assignments.some(({ attribute, value }) => this.#about.get(attribute)?.has(value) === false);
  }

  #rulesOf(file: RuleFile, words: MergeWords, macros: ReadonlySet<string>): readonly Rule[] {
    if (macros.size === 0) return words.rules;
    this.#effort.spend(file.rules.length + file.named);
    return file.rules.filter(({ assignments }) => this.#speaks(assignments) || speaksOf(assignments, macros));
  }
}

function speaksOf(assignments: readonly Assignment[], words: ReadonlySet<string>): boolean {
  return assignments.some(({ attribute }) => words.has(attribute));
}
