import { closest, distance } from 'fastest-levenshtein';
import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  Lexer,
  LineCounter,
  Parser,
  parseDocument,
  visit,
} from 'yaml';
import * as z from 'zod';
import type { FileProblem } from '../../domain/repos/settings-file.ts';
import { toJsonSchema } from '../json-schema.ts';
import { FILE_REFUSALS, FILE_SETTINGS, refusalOf } from './repo-settings.ts';

export { SETTINGS_FILE } from '../../domain/queue/queue-names.ts';
export type { FileProblem } from '../../domain/repos/settings-file.ts';
export { FILE_SETTINGS } from './repo-settings.ts';

export const SETTINGS_FILE_BYTES_MAX = 16_384;
export const SETTINGS_FILE_PROBLEMS_MAX = 20;
const NEAR_EDITS_MAX = 3;
const SHOWN_CHARS_MAX = 60;
const MESSAGE_CHARS_MAX = 200;
/** Tokens that stand around one another: a setting that is a list has four. */
const TOKENS_OPEN_MAX = 16;
const TOO_DEEP = 'The file is nested too deeply.';
const NO_DIRECTIVE = 'The file is YAML 1.2, without a directive.';

const Settings = z.strictObject(FILE_SETTINGS);
export type FileSettings = z.infer<typeof Settings>;
const KNOWN = Object.keys(FILE_SETTINGS) as (keyof FileSettings)[];

/** Other names of a PATCH, which are in no row of the settings. */
const NOT_IN_FILE = new Map<string, string>([
  ['status_context', FILE_REFUSALS.service],
  ['notification', FILE_REFUSALS.notices],
]);
const SETTLED_AT_ENROLLMENT = ['base_branch', 'merge_style', 'automerge', 'repo_slug', 'connection_id'];

export type SettingsFile =
  | { readonly ok: true; readonly settings: FileSettings }
  | { readonly ok: false; readonly problems: readonly FileProblem[] };

/** JSON schema of the file, for editors. */
export function settingsFileSchema(): object {
  return toJsonSchema(Settings, { io: 'input' });
}

/** The settings that the text of a file names. One problem, and none of them is taken. Never throws. */
export function readSettingsFile(text: string): SettingsFile {
  if (Buffer.byteLength(text) > SETTINGS_FILE_BYTES_MAX)
    return refuse([atStart(`The file has more than ${SETTINGS_FILE_BYTES_MAX} bytes.`)]);
  const foreign = findForeign(text);
  if (foreign !== null) return refuse([foreign]);
  const lines = new LineCounter();
  const problem = (offset: number | undefined, key: string | null, says: string): FileProblem => {
    const { line, col } = lines.linePos(offset ?? 0);
    return { line: Math.max(line, 1), column: Math.max(col, 1), key, says };
  };
  const doc = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    version: '1.2',
    // Else the library writes words of the file to the log by itself.
    logLevel: 'error',
  });
  const faults = [...doc.errors, ...doc.warnings].map(({ pos, message }) =>
    problem(pos[0], null, printable(message, MESSAGE_CHARS_MAX)),
  );
  visit(doc, {
    Alias: (_, { range }) => {
      faults.push(problem(range?.[0], null, 'An alias is not taken: write the value out.'));
    },
    Value: (_, { tag, range }) => {
      if (tag !== undefined) faults.push(problem(range?.[0], null, 'A tag is not taken.'));
    },
  });
  if (faults.length > 0) return refuse(faults);
  if (doc.contents === null || (isScalar(doc.contents) && doc.contents.value === null))
    return { ok: true, settings: {} };
  if (!isMap(doc.contents))
    return refuse([problem(doc.contents.range?.[0], null, 'The file is not a mapping of settings.')]);
  const problems: FileProblem[] = [];
  const settings: Partial<Record<keyof FileSettings, unknown>> = {};
  for (const { key: name, value } of doc.contents.items) {
    const start = isNode(name) ? name.range?.[0] : undefined;
    const known = isScalar(name) ? KNOWN.find((key) => key === name.value) : undefined;
    if (known === undefined) {
      const key = isScalar(name) ? String(name.value) : null;
      problems.push(problem(start, shown(key), key === null ? 'A key is a word.' : sayUnknown(key)));
      continue;
    }
    const given = FILE_SETTINGS[known].safeParse(isNode(value) ? value.toJS(doc) : null);
    if (given.success) settings[known] = given.data;
    else
      problems.push(
        ...firstOfEach(given.error.issues).map(({ path, message }) =>
          problem(startOf(doc, [known, ...path]) ?? start, known, `${known}: ${message}.`),
        ),
      );
  }
  return problems.length > 0 ? refuse(problems) : { ok: true, settings: settings as FileSettings };
}

/**
 * The first directive, or the place where the file is nested deeper than settings are; token by token, before the file is read. The
 * reader goes down by recursion, and writes a key that is a mapping out once for each mapping around it, which takes minutes for
 * a kilobyte.
 */
function findForeign(text: string): FileProblem | null {
  const lines = new LineCounter();
  lines.addNewLine(0);
  const parser = new Parser(lines.addNewLine);
  const at = (offset: number, says: string): FileProblem => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col, key: null, says };
  };
  for (const lexeme of new Lexer().lex(text)) {
    for (const { type, offset } of parser.next(lexeme)) {
      if (type === 'directive') return at(offset, NO_DIRECTIVE);
    }
    if (parser.stack.length > TOKENS_OPEN_MAX) return at(parser.offset, TOO_DEEP);
  }
  return null;
}

/** Of each value one: that a text is no list is all there is to say, and not that it has too many letters for one. */
function firstOfEach<T extends { readonly path: readonly PropertyKey[] }>(
  issues: readonly T[],
): readonly T[] {
  return [...new Map(issues.toReversed().map((issue) => [issue.path.join(), issue])).values()].toReversed();
}

function startOf(doc: Document, path: readonly PropertyKey[]): number | undefined {
  const node = doc.getIn(path, true);
  return isNode(node) && !isAlias(node) ? node.range?.[0] : undefined;
}

function sayUnknown(key: string): string {
  const name = shown(key);
  if (SETTLED_AT_ENROLLMENT.includes(key))
    return `"${name}" cannot be set in the file: it is settled at enrollment.`;
  const reason = refusalOf(key);
  const why = reason === undefined ? NOT_IN_FILE.get(key) : FILE_REFUSALS[reason];
  if (why !== undefined) return `"${name}" cannot be set in the file: ${why}. Set it on the page.`;
  const typed = key.slice(0, SHOWN_CHARS_MAX).toLowerCase();
  const near = closest(typed, KNOWN);
  return distance(typed, near) > NEAR_EDITS_MAX
    ? `"${name}" is no setting.`
    : `"${name}" is no setting. Did you mean "${near}"?`;
}

function shown(key: string): string;
function shown(key: string | null): string | null;
function shown(key: string | null): string | null {
  return key === null ? null : printable(key, SHOWN_CHARS_MAX);
}

/** A file is the text of others: a terminal or a page shows no control character of it. */
const printable = (text: string, charsMax: number): string => text.slice(0, charsMax).replace(/[^ -~]/g, '?');

const atStart = (says: string): FileProblem => ({ line: 1, column: 1, key: null, says });

function refuse(problems: readonly FileProblem[]): SettingsFile {
  const inOrder = problems.toSorted((a, b) => a.line - b.line || a.column - b.column);
  return { ok: false, problems: inOrder.slice(0, SETTINGS_FILE_PROBLEMS_MAX) };
}

export interface SettingChange {
  readonly key: string;
  /** Undefined: the service did not tell. */
  readonly from: unknown;
  readonly to: unknown;
}

/** Each value of the file that is not the current one, in the order of the file. */
export function compareSettings(
  current: Readonly<Record<string, unknown>>,
  settings: FileSettings,
): readonly SettingChange[] {
  return Object.entries(settings)
    .map(([key, to]) => ({ key, from: current[key], to }))
    .filter(({ from, to }) => JSON.stringify(from) !== JSON.stringify(to));
}
