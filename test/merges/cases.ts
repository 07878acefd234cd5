import type { SeededRandom } from '../support/seeded-random.ts';
import { draftText, editText, LANGUAGES, type Language, toText } from './texts.ts';
import { type CaseFile, type CaseTree, type MergeCase, place } from './trees.ts';

const DIRECTORIES = ['', 'src/', 'src/core/', 'src/core/io/', 'lib/', 'docs/', 'cmd/app/'] as const;
const STEMS = [
  'index',
  'main',
  'user',
  'order',
  'parse',
  'util',
  'types',
  'README',
  'config',
  'run',
] as const;
const ENDINGS: Readonly<Record<Language, string>> = {
  go: '.go',
  ts: '.ts',
  markdown: '.md',
  yaml: '.yaml',
  table: '.csv',
  noise: '.txt',
};

/** A text file in the making: its lines, so that edits are edits of lines. */
interface Draft {
  readonly language: Language;
  readonly lines: readonly string[];
  readonly lineEnd: string;
  readonly endsOpen: boolean;
  readonly mode: string;
  /** A link's target, a submodule's commit or binary content instead of lines. */
  readonly raw: string | null;
}

type Drafts = ReadonlyMap<string, Draft>;

/** A small project, and two people's work on it: mostly on the same files, with moves, deletions and new files. */
export function draftCase(random: SeededRandom): MergeCase {
  const base = new Map<string, Draft>();
  const count = 2 + random.int(12);
  for (let file = 0; file < count; file += 1) placeDraft(base, randomPath(random), newDraft(random));
  // Copies make pairing harder.
  for (const draft of [...base.values()])
    if (random.chance(0.05)) placeDraft(base, randomPath(random), draft);
  const paths = [...base.keys()];
  const hot = { path: random.pick(paths as [string, ...string[]]), line: random.int(60) };
  const lively = random.chance(0.5);
  const [ours, theirs] = [workOn(base, hot, lively, random), workOn(base, hot, lively, random)];
  return { base: render(base), ours: render(ours), theirs: render(theirs) };
}

function randomPath(random: SeededRandom, language?: Language): string {
  const ending = ENDINGS[language ?? random.pick(LANGUAGES)];
  return `${random.pick(DIRECTORIES)}${random.pick(STEMS)}${ending}`;
}

function newDraft(random: SeededRandom): Draft {
  const language = random.pick(LANGUAGES);
  const dice = random.next();
  const plain = { language, lineEnd: random.chance(0.15) ? '\r\n' : '\n', endsOpen: random.chance(0.08) };
  const mode = random.chance(0.1) ? '100755' : '100644';
  if (dice < 0.03) return { ...plain, lines: [], mode: '120000', raw: `target/${random.int(4)}` };
  if (dice < 0.05) return { ...plain, lines: [], mode: '160000', raw: `${1 + random.int(4)}`.repeat(40) };
  if (dice < 0.09)
    return { ...plain, lines: [], mode, raw: `\0bin${'ary'.repeat(random.int(40))}${random.int(4)}` };
  if (dice < 0.11) return { ...plain, lines: [], mode, raw: null };
  return { ...plain, lines: draftText(language, random), mode, raw: null };
}

function workOn(
  base: Drafts,
  hot: { readonly path: string; readonly line: number },
  lively: boolean,
  random: SeededRandom,
): Drafts {
  const drafts = new Map(base);
  const works = 1 + random.int(lively ? 6 : 3);
  for (let work = 0; work < works; work += 1) {
    const paths = [...drafts.keys()] as [string, ...string[]];
    if (paths.length === 0) break;
    const path = drafts.has(hot.path) && random.chance(0.5) ? hot.path : random.pick(paths);
    workOnce(drafts, path, hot.line, lively ? random.next() : random.next() * 0.6, random);
  }
  return drafts;
}

function workOnce(
  drafts: Map<string, Draft>,
  path: string,
  hotLine: number,
  dice: number,
  random: SeededRandom,
): void {
  const draft = drafts.get(path);
  if (draft === undefined) return;
  if (dice < 0.5) drafts.set(path, editDraft(draft, hotLine, random));
  else if (dice < 0.54) drafts.set(path, { ...draft, mode: toggleMode(draft.mode) });
  else if (dice < 0.62) placeDraft(drafts, randomPath(random), newDraft(random));
  else if (dice < 0.7) drafts.delete(path);
  else if (dice < 0.85) {
    drafts.delete(path);
    placeDraft(
      drafts,
      movedPath(path, random),
      random.chance(0.5) ? editDraft(draft, hotLine, random) : draft,
    );
  } else if (dice < 0.97) moveDirectory(drafts, path, hotLine, random);
  else placeDraft(drafts, path, newDraft(random));
}

function movedPath(path: string, random: SeededRandom): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (random.chance(0.5)) return `${random.pick(DIRECTORIES)}${name}`;
  return `${path.slice(0, path.lastIndexOf('/') + 1)}${random.pick(STEMS)}-${random.int(3)}${name.slice(name.lastIndexOf('.'))}`;
}

function moveDirectory(
  drafts: Map<string, Draft>,
  path: string,
  hotLine: number,
  random: SeededRandom,
): void {
  const directory = path.slice(0, path.lastIndexOf('/') + 1);
  if (directory === '') return;
  const target = random.pick(['moved/', 'src/new/', 'pkg/core/', 'lib/']);
  for (const [old, draft] of [...drafts]) {
    if (!old.startsWith(directory)) continue;
    drafts.delete(old);
    placeDraft(
      drafts,
      target + old.slice(directory.length),
      random.chance(0.2) ? editDraft(draft, hotLine, random) : draft,
    );
  }
}

function editDraft(draft: Draft, hotLine: number, random: SeededRandom): Draft {
  if (draft.raw !== null) {
    const raw = draft.mode === '160000' ? `${5 + random.int(4)}`.repeat(40) : `${draft.raw}${random.int(6)}`;
    return { ...draft, raw };
  }
  const lines = editText(draft.lines, draft.language, hotLine, random);
  const lineEnd = random.chance(0.02) ? (draft.lineEnd === '\n' ? '\r\n' : '\n') : draft.lineEnd;
  return { ...draft, lines, lineEnd, endsOpen: random.chance(0.05) ? !draft.endsOpen : draft.endsOpen };
}

function toggleMode(mode: string): string {
  return mode === '100644' ? '100755' : mode === '100755' ? '100644' : mode;
}

function placeDraft(drafts: Map<string, Draft>, path: string, draft: Draft): void {
  // The same rule as for files: a path is a file or a directory.
  place(drafts as unknown as Map<string, CaseFile>, path, draft as unknown as CaseFile);
}

function render(drafts: Drafts): CaseTree {
  return new Map(
    [...drafts].map(([path, { raw, lines, lineEnd, endsOpen, mode }]) => [
      path,
      { mode, content: raw ?? toText(lines, lineEnd, endsOpen) },
    ]),
  );
}
