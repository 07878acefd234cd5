import { Effort, EffortSpent } from '#core/domain/effort.ts';
import { GLOB_STEPS_MAX } from '#core/domain/glob.ts';
import { Matcher, Subject } from '#core/domain/glob-matcher.ts';
import { ANYTHING, type Token, textToken } from '#core/domain/glob-tokens.ts';
import type { BlobId, TreeHash } from '#core/domain/ids.ts';
import { isDirectory, type ObjectView, type Reading, readBlobs, readDirectories } from './objects.ts';
import { Refused } from './refusal.ts';

/** Macros that git knows without a definition and that change how a file merges. */
const MERGE_WORDS: ReadonlySet<string> = new Set(['merge', 'binary']);
/** The parts of a simple pattern; any other may match anything. */
const SIMPLE_PATTERN = /^[^[\]\\?"!]+$/;
/** Steps that the reading of one character of a `.gitattributes` takes, and that of one of a pattern in it. */
const LINE_STEPS_OF_CHAR = 4;
const PATTERN_STEPS_OF_CHAR = 20;

/** One rule of a `.gitattributes`. */
interface Rule {
  readonly pattern: string;
  /** Names of those that it sets, unsets or leaves open. */
  readonly attributes: readonly string[];
  /** Made when it is asked for; null = the pattern is not simple, and may match anything. */
  matcher?: Matcher | null;
}

/** One `.gitattributes`, read once for all files of a merge. */
interface RuleFile {
  /** Names of the macros in it that change how a file merges. */
  readonly macros: readonly string[];
  readonly rules: readonly Rule[];
  /** Those that speak of merging without a macro of their own. */
  readonly mergeRules: readonly Rule[];
}

/** A directory of one of the trees, which may hold rules for all that is below it. */
interface Folder {
  readonly children: ReadonlyMap<string, TreeHash>;
  readonly rules: BlobId | null;
}

/**
 * The `.gitattributes` of some trees, as far as they speak of merging. Which of the trees git reads them from depends on where
 * the forge merges, so all of them count.
 */
export class MergeRules {
  readonly #view: ObjectView;
  readonly #trees: ReadonlySet<TreeHash>;
  readonly #effort = new Effort(GLOB_STEPS_MAX);
  readonly #folders = new Map<TreeHash, Folder>();
  readonly #files = new Map<BlobId, RuleFile>();

  constructor(view: ObjectView, trees: readonly TreeHash[]) {
    this.#view = view;
    this.#trees = new Set(trees);
  }

  get stepsLeft(): number {
    return this.#effort.left;
  }

  /**
   * Throws `Refused` where a rule could make git merge the file at `path` otherwise than as text, and where there are
   * more rules than can be read.
   */
  *refuse(path: string): Reading<void> {
    try {
      yield* this.#refuse(path);
    } catch (error) {
      if (error instanceof EffortSpent) throw new Refused('merge_rules');
      throw error;
    }
  }

  *#refuse(path: string): Reading<void> {
    const found = yield* this.#findFiles(path);
    yield* this.#readFiles([...found.values()].map(({ id }) => id));
    const files = [...found.values()].flatMap(({ id, depth }) => {
      const file = this.#files.get(id);
      return file === undefined ? [] : [{ file, depth }];
    });
    this.#effort.spend(files.reduce((sum, { file }) => sum + file.macros.length, 0));
    const macros = new Set(files.flatMap(({ file }) => file.macros));
    const name = new Subject(path.slice(path.lastIndexOf('/') + 1));
    for (const { file, depth } of files) {
      const below = new Subject(path.slice(depth));
      for (const rule of this.#rulesOf(file, macros)) {
        if (this.#mayMatch(rule, below, name)) throw new Refused('merge_rules');
      }
    }
  }

  /** Every `.gitattributes` above a path, and how much of the path stands above its rules. */
  *#findFiles(path: string): Reading<ReadonlyMap<string, { readonly id: BlobId; readonly depth: number }>> {
    const found = new Map<string, { readonly id: BlobId; readonly depth: number }>();
    for (const tree of this.#trees) {
      let id: TreeHash | undefined = tree;
      for (let depth = 0; id !== undefined; ) {
        this.#effort.spend(1);
        const folder: Folder = yield* this.#readFolder(id, path.slice(0, Math.max(0, depth - 1)));
        if (folder.rules !== null) found.set(`${folder.rules} ${depth}`, { id: folder.rules, depth });
        const slash = path.indexOf('/', depth);
        if (slash === -1) break;
        id = folder.children.get(path.slice(depth, slash));
        depth = slash + 1;
      }
    }
    return found;
  }

  *#readFolder(id: TreeHash, path: string): Reading<Folder> {
    const known = this.#folders.get(id);
    if (known !== undefined) return known;
    const [entries = []] = yield* readDirectories(this.#view, [{ id, path }]);
    const folder = {
      children: new Map(entries.filter(isDirectory).map((entry) => [entry.name, entry.id])),
      rules: entries.find(({ name }) => name === '.gitattributes')?.id ?? null,
    };
    this.#folders.set(id, folder);
    return folder;
  }

  *#readFiles(ids: readonly BlobId[]): Reading<void> {
    const unread = ids.filter((id) => !this.#files.has(id));
    const blobs = yield* readBlobs(this.#view, unread);
    for (const id of unread) {
      const content = blobs.get(id);
      if (!Buffer.isBuffer(content)) throw new Refused('merge_rules');
      this.#effort.spend(LINE_STEPS_OF_CHAR * content.length);
      this.#files.set(id, readRules(content.toString('utf8')));
    }
  }

  #rulesOf(file: RuleFile, macros: ReadonlySet<string>): readonly Rule[] {
    if (macros.size === 0) return file.mergeRules;
    this.#effort.spend(file.rules.length);
    return file.rules.filter(
      ({ attributes }) => speaksOf(attributes, MERGE_WORDS) || speaksOf(attributes, macros),
    );
  }

  /** Whether the pattern of a rule matches a path below its file. A pattern that is not simple may. */
  #mayMatch(rule: Rule, path: Subject, name: Subject): boolean {
    if (rule.matcher === undefined) {
      this.#effort.spend(PATTERN_STEPS_OF_CHAR * rule.pattern.length);
      rule.matcher = SIMPLE_PATTERN.test(rule.pattern) ? matcherOf(rule.pattern) : null;
    }
    return (
      rule.matcher === null || rule.matcher.matches(rule.pattern.includes('/') ? path : name, this.#effort)
    );
  }
}

function readRules(text: string): RuleFile {
  const macros: string[] = [];
  const rules: Rule[] = [];
  for (const line of text.split(/\r?\n/)) {
    const [pattern = '', ...words] = line.trim().split(/\s+/);
    const attributes = words.map((word) => word.replace(/^[-!]/, '').replace(/=.*$/, ''));
    if (pattern.startsWith('[attr]')) {
      if (speaksOf(attributes, MERGE_WORDS)) macros.push(pattern.slice('[attr]'.length));
    } else if (!pattern.startsWith('#')) rules.push({ pattern, attributes });
  }
  return { macros, rules, mergeRules: rules.filter(({ attributes }) => speaksOf(attributes, MERGE_WORDS)) };
}

function speaksOf(attributes: readonly string[], words: ReadonlySet<string>): boolean {
  return attributes.some((attribute) => words.has(attribute));
}

/** A stranger writes pattern and path: a regular expression could be made to look back for minutes, and every queue would wait. */
function matcherOf(pattern: string): Matcher {
  const parts = pattern.replace(/^\//, '').split(/(\*\*\/|\/\*\*|\*)/);
  return new Matcher(parts.flatMap((part) => WILD[part] ?? [...part].map((char) => textToken(char))));
}

const SLASH = textToken('/');
const WILD: Readonly<Record<string, readonly Token[]>> = {
  '**/': [{ kind: 'either', branches: [[], [ANYTHING, SLASH]] }],
  '/**': [SLASH, ANYTHING],
  '*': [{ kind: 'many', has: (char) => char !== '/' }],
};
