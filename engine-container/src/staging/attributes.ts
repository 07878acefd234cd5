import type { Effort } from '#core/domain/effort.ts';
import { Matcher, Subject } from '#core/domain/globs/glob-matcher.ts';
import { ANYTHING, isBetween, type Token, textToken } from '#core/domain/globs/glob-tokens.ts';
import type { BlobId, TreeHash } from '#core/domain/ids.ts';
import {
  type BlobRequest,
  type Computation,
  type DirectoryEntry,
  isDirectory,
  type ObjectView,
  readBlobs,
  readDirectories,
} from './objects.ts';
import { SUBMODULE_MODE } from './path-change.ts';

/** A pattern that is read as git reads it; any other may match anything. Git skips a byte order mark in a file on disk alone. */
const SIMPLE_PATTERN = /^(?:[^[\]\\?"!\ufeff]|\[[\w.-]+\])+$/;
/** Steps that the reading of one character of a `.gitattributes` takes, and that of one of a pattern in it. */
const LINE_STEPS_OF_CHAR = 4;
/** Steps of one line and of one word in it, beside those of its characters: what is kept of each takes memory, too. */
const LINE_STEPS = 80;
const WORD_STEPS = 20;
/** Steps of one more file, beside those of its characters: it takes a call, and a reconcile that makes too many never ends. */
const FILE_STEPS = 50_000;
const PATTERN_STEPS_OF_CHAR = 20;

/** The part of a rule that speaks of one attribute: false = unset, `null` = left open, else its value. */
export interface Assignment {
  readonly attribute: string;
  readonly value: boolean | string | null;
}

/** One rule of a `.gitattributes`. */
export interface Rule {
  readonly pattern: string;
  readonly assignments: readonly Assignment[];
  /** Made when it is asked for; null = the pattern is not simple, and may match anything. */
  matcher?: Matcher | null;
}

/** One `.gitattributes`, in the order of its lines. */
export interface RuleFile {
  readonly macros: ReadonlyMap<string, readonly Assignment[]>;
  readonly rules: readonly Rule[];
  /** Assignments of all rules together. */
  readonly named: number;
}

/** Where the rules of a path stand, and how much of the path stands above them. */
export interface RulePlace extends BlobRequest {
  readonly depth: number;
}

/** A path and the parts of it that the patterns of one file are held against. */
export interface RuledPath {
  readonly below: Subject;
  readonly name: Subject;
}

/** A directory of one of the trees, which may hold rules for all that is below it. */
interface Folder {
  readonly children: ReadonlyMap<string, TreeHash>;
  readonly rules: BlobRequest | null;
}

/** The `.gitattributes` of trees, each read once. Throws `EffortSpent` where there is more than the effort lasts for. */
export class AttributeFiles {
  readonly #view: ObjectView;
  readonly #effort: Effort;
  readonly #folders = new Map<TreeHash, Folder>();
  readonly #files = new Map<BlobId, RuleFile | null>();

  constructor(view: ObjectView, effort: Effort) {
    this.#view = view;
    this.#effort = effort;
  }

  /** Those above a path of one tree, that of the root first. */
  *findAbove(tree: TreeHash, path: string): Computation<readonly RulePlace[]> {
    const found: RulePlace[] = [];
    let id: TreeHash | undefined = tree;
    for (let depth = 0; id !== undefined; ) {
      this.#effort.spend(1);
      const folder: Folder = yield* this.#readFolder(id, path.slice(0, Math.max(0, depth - 1)));
      if (folder.rules !== null) found.push({ ...folder.rules, depth });
      const slash = path.indexOf('/', depth);
      if (slash === -1) break;
      id = folder.children.get(path.slice(depth, slash));
      depth = slash + 1;
    }
    return found;
  }

  /** Null: one that the forge keeps back. */
  *read(files: readonly BlobRequest[]): Computation<ReadonlyMap<BlobId, RuleFile | null>> {
    const unread = files.filter(({ id }) => !this.#files.has(id));
    this.#effort.spend(FILE_STEPS * unread.length);
    const blobs = yield* readBlobs(this.#view, unread);
    for (const { id } of unread) {
      const content = blobs.get(id);
      if (!Buffer.isBuffer(content)) this.#files.set(id, null);
      else {
        this.#effort.spend(LINE_STEPS_OF_CHAR * content.length);
        this.#files.set(id, readRules(content.toString('utf8'), this.#effort));
      }
    }
    return this.#files;
  }

  /** Null: a pattern that is not simple, and may match. */
  matches(rule: Rule, { below, name }: RuledPath): boolean | null {
    if (rule.matcher === undefined) {
      this.#effort.spend(PATTERN_STEPS_OF_CHAR * rule.pattern.length);
      rule.matcher = SIMPLE_PATTERN.test(rule.pattern) ? matcherOf(rule.pattern) : null;
    }
    return rule.matcher === null
      ? null
      : rule.matcher.matches(rule.pattern.includes('/') ? below : name, this.#effort);
  }

  *#readFolder(id: TreeHash, path: string): Computation<Folder> {
    const known = this.#folders.get(id);
    if (known !== undefined) return known;
    const [entries = []] = yield* readDirectories(this.#view, [{ id, path }]);
    const folder = {
      children: new Map(entries.filter(isDirectory).map((entry) => [entry.name, entry.id])),
      rules: entries.find((entry) => isRuleFile(entry.name) && isFile(entry)) ?? null,
    };
    this.#folders.set(id, folder);
    return folder;
  }
}

const RULE_FILE = /(?:^|\/)\.gitattributes$/;

export function isRuleFile(path: string): boolean {
  return RULE_FILE.test(path);
}

/** Neither a folder nor a submodule, which may have the name as well. */
function isFile(entry: DirectoryEntry): boolean {
  return !isDirectory(entry) && entry.mode !== SUBMODULE_MODE;
}

/** A path as the rules that stand `depth` characters into it see it. */
export function ruledPath(path: string, depth: number): RuledPath {
  return { below: new Subject(path.slice(depth)), name: new Subject(path.slice(path.lastIndexOf('/') + 1)) };
}

const MACRO = '[attr]';
/** Git knows no other white space here. */
const BLANKS = /[ \t\r]+/;

/** Throws `EffortSpent`. */
function readRules(text: string, effort: Effort): RuleFile {
  const macros = new Map<string, readonly Assignment[]>();
  const rules: Rule[] = [];
  let named = 0;
  for (const line of linesOf(text)) {
    effort.spend(LINE_STEPS);
    const [pattern = '', ...words] = line.split(BLANKS).filter((word) => word !== '');
    effort.spend(WORD_STEPS * words.length);
    const assignments = words.map(readAssignment);
    if (pattern.startsWith(MACRO)) macros.set(pattern.slice(MACRO.length), assignments);
    else if (!pattern.startsWith('#') && assignments.length > 0) {
      rules.push({ pattern, assignments });
      named += assignments.length;
    }
  }
  return { macros, rules, named };
}

/** One after another: millions of them at once are more than the memory of the engine. */
function* linesOf(text: string): Generator<string> {
  for (let at = 0; at <= text.length; ) {
    const end = text.indexOf('\n', at);
    yield text.slice(at, end === -1 ? text.length : end);
    at = end === -1 ? text.length + 1 : end + 1;
  }
}

/** `text`, `-text`, `!text` or `text=value`; a value after a sign counts for nothing. */
function readAssignment(word: string): Assignment {
  const [, sign = '', attribute = '', value] = /^([-!]?)([^=]*)(?:=(.*))?$/.exec(word) ?? [];
  if (sign === '!') return { attribute, value: null };
  return { attribute, value: sign === '-' ? false : (value ?? true) };
}

/** A stranger writes pattern and path: a regular expression could be made to look back for minutes, and every queue would wait. */
function matcherOf(pattern: string): Matcher {
  // Plain text and wildcards in turn, with plain text first and last.
  const parts = pattern.replace(/^\//, '').split(/(\*+|\[[\w.-]+\])/);
  return new Matcher(
    parts.flatMap((part, at) => {
      if (part.startsWith('[')) return [classToken(part.slice(1, -1))];
      if (part.startsWith('*')) return starTokens(parts, at);
      const text = at > 0 && isAnyFolders(parts, at - 1) ? part.slice(1) : part;
      return [...text].map((char) => textToken(char));
    }),
  );
}

const SLASH = textToken('/');
const IN_FOLDER: Token = { kind: 'many', has: (char) => char !== '/' };
// None at all is one of them: `a/**/b` takes `a/b`.
const ANY_FOLDERS: Token = { kind: 'either', branches: [[], [ANYTHING, SLASH]] };

function starTokens(parts: readonly string[], at: number): readonly Token[] {
  if (isAnyFolders(parts, at)) return [ANY_FOLDERS];
  return [isWide(parts, at) && parts[at + 1] === '' ? ANYTHING : IN_FOLDER];
}

/** Stars that take the slash behind them, too. */
function isAnyFolders(parts: readonly string[], at: number): boolean {
  return isWide(parts, at) && parts[at + 1]?.startsWith('/') === true;
}

/**
 * Stars that take slashes: two or more, and nothing but them between two slashes or ends of the pattern. Git compares the plain
 * text before the first wildcard on its own, so that this wildcard begins a pattern for it whatever stands before.
 */
function isWide(parts: readonly string[], at: number): boolean {
  const isFirst = at === 1;
  const [stars = '', next = ''] = parts.slice(at, at + 2);
  const isEnd = next === '' && at + 2 === parts.length;
  return (
    stars.startsWith('**') &&
    (isFirst || parts[at - 1]?.endsWith('/') === true) &&
    (isEnd || next.startsWith('/'))
  );
}

/** A class of letters, digits and dots, with ranges: `a-z0`. No class takes a slash. */
function classToken(text: string): Token {
  const parts = text.match(/.-.|./g) ?? [];
  const has = (char: string): boolean =>
    char !== '/' &&
    parts.some((part) =>
      part.length === 3 ? isBetween(part.charAt(0), char, part.charAt(2)) : part === char,
    );
  return { kind: 'one', has, members: parts.length };
}
