import { Effort, EffortSpent, Turns } from '#core/domain/effort.ts';
import type { BlobId, TreeHash } from '#core/domain/ids.ts';
import { type Assignment, AttributeFiles, type RuleFile, ruledPath } from '../attributes.ts';
import { type BlobRequest, type Computation, type ObjectView, readBlobs, TURN } from '../objects.ts';
import { type FileVersion, isRegularFile } from '../path-change.ts';
import {
  type Attributes,
  type Conversion,
  type ConvertedText,
  conversionOf,
  isRewritten,
  mayDiffer,
  readText,
} from './conversion.ts';

/** Steps that the rules of one pull request may take; what takes more is not told. */
const RULE_STEPS_MAX = 2_000_000;
/** Files of one pull request whose contents are read for this, and their bytes. */
const CONVERTED_FILES_MAX = 100;
const CONVERTED_BYTES_MAX = 8 * 1024 * 1024;
/** Bytes between two turns of all others in the engine. */
const TURN_BYTES = 1024 * 1024;

/** The files that git writes to disk at one moment of a rebase. */
export interface Checkout {
  /** The tree whose rules git obeys then. */
  readonly tree: TreeHash;
  /** Some of its rules are others than in the checkout before. */
  readonly isRuledAnew: boolean;
  /** Files that differ from the checkout before; null = removed. */
  readonly files: ReadonlyMap<string, FileVersion | null>;
}

/** A file that was written to disk by the rules of one tree and is read back by those of another. */
interface ReadBack extends BlobRequest {
  readonly path: string;
  readonly written: Conversion;
  readonly read: Conversion;
}

/**
 * A file that git writes to disk and would read back as another one. Git takes such a file for an uncommitted change and never
 * overwrites it: a rebase does not begin if a file of the first checkout is one, and stops where a later checkout would overwrite
 * one. Null: there is no such file, or it cannot be told, since more rules, files or bytes would have to be read.
 */
export function* findRewritten(view: ObjectView, checkouts: readonly Checkout[]): Computation<string | null> {
  try {
    const readBack = yield* listReadBack(view, checkouts);
    const texts = yield* readTexts(view, readBack);
    const found = readBack.find(({ id, written, read }) => {
      const text = texts.get(id);
      return text !== undefined && isRewritten(text, written, read);
    });
    return found?.path ?? null;
  } catch (error) {
    if (error instanceof EffortSpent) return null;
    throw error;
  }
}

/** Each text is read through once, and all others have a turn in between. Those that the forge keeps back are left out. */
function* readTexts(
  view: ObjectView,
  files: readonly BlobRequest[],
): Computation<ReadonlyMap<BlobId, ConvertedText>> {
  const blobs = yield* readBlobs(view, files);
  const texts = new Map<BlobId, ConvertedText>();
  let bytes = 0;
  for (const [id, content] of blobs) {
    if (!Buffer.isBuffer(content)) continue;
    if (bytes > TURN_BYTES) {
      yield TURN;
      bytes = 0;
    }
    bytes += content.length;
    texts.set(id, readText(content));
  }
  return texts;
}

/** A file on disk, and the checkout that wrote it. */
interface WrittenFile {
  readonly version: FileVersion;
  readonly tree: TreeHash;
  readonly at: number;
}

/** Files in which a conversion may make a difference, as many as are read. */
function* listReadBack(view: ObjectView, checkouts: readonly Checkout[]): Computation<readonly ReadBack[]> {
  const effort = new Effort(RULE_STEPS_MAX);
  const attributes = new AttributeFiles(view, effort);
  const budget = new ReadingBudget();
  const turns = new Turns(() => effort.left);
  const onDisk = new Map<string, WrittenFile>();
  const ruledAnew: { readonly at: number; readonly tree: TreeHash }[] = [];
  for (const [at, { tree, isRuledAnew, files }] of checkouts.entries()) {
    for (const [path, version] of files) {
      effort.spend(1);
      if (turns.isDue()) yield TURN;
      const old = onDisk.get(path);
      if (old !== undefined) yield* check(path, old);
      onDisk.delete(path);
      if (version !== null && isRegularFile(version)) onDisk.set(path, { version, tree, at });
    }
    if (at === 0) for (const [path, file] of onDisk) yield* check(path, file);
    if (isRuledAnew) ruledAnew.push({ at, tree });
    if (budget.isSpent) break;
  }
  return budget.readBack;

  /** A file that git once took for changed stays so, also where later rules say otherwise. */
  function* check(path: string, { version, tree, at }: WrittenFile): Computation<void> {
    const written = conversionOf(yield* readAttributes(attributes, effort, tree, path));
    budget.add(path, version, { written, read: written });
    for (const later of ruledAnew) {
      if (later.at <= at) continue;
      const read = conversionOf(yield* readAttributes(attributes, effort, later.tree, path));
      budget.add(path, version, { written, read });
    }
  }
}

/** Collects what is to be read, once each, until it is too much. */
class ReadingBudget {
  readonly #found = new Map<string, ReadBack>();
  readonly #ids = new Set<BlobId>();
  #bytes = 0;

  get isSpent(): boolean {
    return this.#ids.size >= CONVERTED_FILES_MAX;
  }

  get readBack(): readonly ReadBack[] {
    return [...this.#found.values()];
  }

  add(path: string, { id, size }: FileVersion, rules: Pick<ReadBack, 'written' | 'read'>): void {
    if (this.isSpent || !mayDiffer(rules)) return;
    if (!this.#ids.has(id)) {
      if (this.#bytes + (size ?? 0) > CONVERTED_BYTES_MAX) return;
      this.#bytes += size ?? 0;
      this.#ids.add(id);
    }
    this.#found.set(`${id} ${JSON.stringify(rules)}`, { path, id, size, ...rules });
  }
}

/** The last line that matches decides, and the file of a folder decides before that of the folder above (`gitattributes(5)`). */
function* readAttributes(
  attributes: AttributeFiles,
  effort: Effort,
  tree: TreeHash,
  path: string,
): Computation<Attributes> {
  const places = yield* attributes.findAbove(tree, path);
  const values = new Map<string, Assignment['value']>();
  if (places.length === 0) return values;
  const read = yield* attributes.read(places);
  const [root] = places;
  // Only the file of the root may define macros.
  const macros = root?.depth === 0 ? read.get(root.id)?.macros : undefined;
  for (const { id, depth } of places.toReversed()) {
    const ruled = ruledPath(path, depth);
    const rules = read.get(id)?.rules ?? [];
    effort.spend(rules.length);
    for (const rule of rules.toReversed()) {
      if (attributes.matches(rule, ruled) === true) assign(values, rule.assignments, macros, effort);
    }
  }
  return values;
}

const BINARY: readonly Assignment[] = ['diff', 'merge', 'text'].map((attribute) => ({
  attribute,
  value: false,
}));

/** A macro stands for its own assignments, which may name further macros. A stranger chooses how deep: a recursion could overflow. */
function assign(
  values: Map<string, Assignment['value']>,
  assignments: readonly Assignment[],
  macros: RuleFile['macros'] | undefined,
  effort: Effort,
): void {
  const pending: Assignment[] = [];
  const add = (some: readonly Assignment[]): void => {
    effort.spend(some.length);
    for (const each of some) pending.push(each);
  };
  add(assignments);
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { attribute, value } = next;
    if (values.has(attribute)) continue;
    values.set(attribute, value);
    if (value === true) add(macros?.get(attribute) ?? (attribute === 'binary' ? BINARY : []));
  }
}
