import { type ErrorCode, LineCounter, parseDocument, visit } from 'yaml';

/**
 * A mistake in a file. The message has its place and its kind, and no text of the file, because a line of it may be a
 * secret.
 */
class TextFault extends Error {
  constructor(line: number, column: number, says: string) {
    super(`line ${line}, column ${column}: ${says}`);
  }
}

const IN_QUOTES = 'put the value in quotes';
const SAYS: Partial<Readonly<Record<ErrorCode, string>>> = {
  BAD_SCALAR_START: `a value begins with a character that has a meaning in YAML: ${IN_QUOTES}`,
  TAG_RESOLVE_FAILED: `a value begins with "!", which has a meaning in YAML: ${IN_QUOTES}`,
  BAD_INDENT: 'the indent is wrong',
  TAB_AS_INDENT: 'a tab stands before the text: indent with spaces',
  DUPLICATE_KEY: 'this key stands there a second time',
  MISSING_CHAR: 'a colon, a quote or a bracket is missing',
  MULTIPLE_DOCS: 'a second document begins: a file has one',
};
const SAYS_ELSE = 'this is no YAML: look at the indent, at colons with a space behind them, and at quotes';
const SAYS_ALIAS = `a value begins with "*", which has a meaning in YAML: ${IN_QUOTES}`;

/** Parses YAML. Throws `TextFault`, because an error of the parser would quote the text. */
export function parseYaml(text: string): unknown {
  const lines = new LineCounter();
  const doc = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const fault = (offset: number, says: string): TextFault => {
    const { line, col } = lines.linePos(offset);
    return new TextFault(Math.max(line, 1), Math.max(col, 1), says);
  };
  // A warning is of a tag that means nothing, and the parser would print it with the tag.
  const [first] = [...doc.errors, ...doc.warnings];
  if (first !== undefined) throw fault(first.pos[0], SAYS[first.code] ?? SAYS_ELSE);
  visit(doc, {
    Alias: (_, alias) => {
      if (alias.resolve(doc) === undefined) throw fault(alias.range?.[0] ?? 0, SAYS_ALIAS);
    },
  });
  try {
    return doc.toJS();
  } catch {
    throw fault(0, 'it names its own parts ("*") too often');
  }
}
