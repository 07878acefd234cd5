import { ANYTHING, matchTokens, type Token, textToken } from '#core/domain/glob-tokens.ts';
import type { BlobId, TreeHash } from '#core/domain/ids.ts';
import { findEntry, type ObjectView, type Reading, readBlobs } from './objects.ts';
import { Refused } from './refusal.ts';

/** Macros that git knows without a definition and that change how a file merges. */
const MERGE_WORDS: readonly string[] = ['merge', 'binary'];
/** The parts of a simple pattern; any other may match anything. */
const SIMPLE_PATTERN = /^[^[\]\\?"!]+$/;

/**
 * Throws `Refused` where a `.gitattributes` of any of the trees could make git merge the file at `path` otherwise than as
 * text. Which tree git reads it from depends on where the forge merges, so all of them count.
 */
export function* refuseMergeRules(view: ObjectView, trees: readonly TreeHash[], path: string): Reading<void> {
  const files = new Map<string, { readonly id: BlobId; readonly prefix: string }>();
  for (const tree of new Set(trees)) {
    for (const directory of directoriesAbove(path)) {
      const prefix = directory === '' ? '' : `${directory}/`;
      const entry = yield* findEntry(view, tree, `${prefix}.gitattributes`);
      if (entry !== null) files.set(`${entry.id} ${prefix}`, { id: entry.id, prefix });
    }
  }
  const blobs = yield* readBlobs(
    view,
    [...files.values()].map(({ id }) => id),
  );
  const texts = [...files.values()].map(({ id, prefix }) => {
    const content = blobs.get(id);
    if (!Buffer.isBuffer(content)) throw new Refused('merge_rules');
    return { lines: content.toString('utf8').split(/\r?\n/), prefix };
  });
  const macros = texts.flatMap(({ lines }) => lines.filter((line) => line.trimStart().startsWith('[attr]')));
  const words = [...MERGE_WORDS, ...macros.filter(speaksOf(MERGE_WORDS)).map(nameOfMacro)];
  for (const { lines, prefix } of texts) {
    const rules = lines.filter((line) => !/^\s*(?:#|\[attr\])/.test(line)).filter(speaksOf(words));
    if (rules.some((rule) => mayMatch(rule, path.slice(prefix.length)))) throw new Refused('merge_rules');
  }
}

/** `a/b/c` stands in ``, `a` and `a/b`. */
function directoriesAbove(path: string): readonly string[] {
  const names = path.split('/');
  return names.map((_, at) => names.slice(0, at).join('/'));
}

function nameOfMacro(line: string): string {
  return line.trim().split(/\s+/)[0]?.slice('[attr]'.length) ?? '';
}

/** Whether a line sets, unsets or leaves open one of the attributes. */
function speaksOf(words: readonly string[]): (line: string) => boolean {
  return (line) =>
    line
      .trim()
      .split(/\s+/)
      .slice(1)
      .some((token) => words.includes(token.replace(/^[-!]/, '').replace(/=.*$/, '')));
}

/** Whether the pattern of a rule matches a path below its file. A pattern that is not simple may. */
function mayMatch(rule: string, path: string): boolean {
  const pattern = rule.trim().split(/\s+/)[0] ?? '';
  if (!SIMPLE_PATTERN.test(pattern)) return true;
  const isAnchored = pattern.includes('/');
  const subject = isAnchored ? path : path.slice(path.lastIndexOf('/') + 1);
  return matchTokens(tokensOf(pattern.replace(/^\//, '')), subject);
}

/** A stranger writes pattern and path: a regular expression could be made to look back for minutes, and every queue would wait. */
function tokensOf(pattern: string): readonly Token[] {
  return pattern
    .split(/(\*\*\/|\/\*\*|\*)/)
    .flatMap((part) => WILD[part] ?? [...part].map((char) => textToken(char)));
}

const SLASH = textToken('/');
const WILD: Readonly<Record<string, readonly Token[]>> = {
  '**/': [{ kind: 'either', branches: [[], [ANYTHING, SLASH]] }],
  '/**': [SLASH, ANYTHING],
  '*': [{ kind: 'many', has: (char) => char !== '/' }],
};
