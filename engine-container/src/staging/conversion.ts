import type { Assignment } from './attributes.ts';

export type Attributes = ReadonlyMap<string, Assignment['value']>;

/** The change that git makes to a file between history and disk, as `convert_attrs` of git's `convert.c` reads it. */
export interface Conversion {
  /** Line ends of what is read from disk become LF: always, or where git takes the file for text and knows no CRLF in it. */
  readonly lineEnds: 'always' | 'auto' | 'never';
  /** Line ends of what is written to disk become CRLF. */
  readonly writesCrlf: boolean;
  /** `$Id$` is written out on disk, and read back without what was written. */
  readonly ident: boolean;
}

/** Of the last values that `.gitattributes` gives; `crlf` is the former name of `text`. */
export function conversionOf(attributes: Attributes): Conversion {
  const text = lineEndsOf(attributes.get('text')) ?? lineEndsOf(attributes.get('crlf'));
  const eol = attributes.get('eol');
  const lineEnds = text ?? (eol === 'lf' || eol === 'crlf' ? 'always' : 'never');
  return {
    lineEnds,
    writesCrlf: lineEnds !== 'never' && eol === 'crlf',
    ident: attributes.get('ident') === true,
  };
}

function lineEndsOf(value: Assignment['value'] | undefined): Conversion['lineEnds'] | undefined {
  if (value === true || value === 'input') return 'always';
  if (value === false) return 'never';
  return value === 'auto' ? 'auto' : undefined;
}

/** False: whatever the file holds, it comes back from disk as it was. */
export function mayDiffer({
  written,
  read,
}: {
  readonly written: Conversion;
  readonly read: Conversion;
}): boolean {
  if (written.ident || read.ident || read.lineEnds === 'always') return true;
  return written.writesCrlf && (read.lineEnds !== 'auto' || written.lineEnds !== 'auto');
}

/** Whether a file is another one after it was written to disk by one conversion and read back by another. */
export function isRewritten(content: Buffer, written: Conversion, read: Conversion): boolean {
  const text = content.toString('latin1');
  return readBack(writeOut(text, written), text, read) !== text;
}

const IDENT = /\$Id(?::[^\n$]*)?\$/g;
const LONE_LF = /(?<!\r)\n/g;
const CRLF = /\r\n/g;
const LONE_CR = /\r(?!\n)/;

function writeOut(text: string, { lineEnds, writesCrlf, ident }: Conversion): string {
  const filled = ident ? text.replace(IDENT, '$$Id: written $$') : text;
  const isLeft = lineEnds === 'auto' && (filled.includes('\r') || isBinary(filled));
  return writesCrlf && !isLeft ? filled.replace(LONE_LF, '\r\n') : filled;
}

/** With `auto` git leaves a file alone that has CRLF in the index already. */
function readBack(disk: string, indexed: string, { lineEnds, ident }: Conversion): string {
  const isLeft = lineEnds === 'auto' && (isBinary(disk) || (!isBinary(indexed) && indexed.includes('\r\n')));
  const unified = lineEnds === 'never' || isLeft ? disk : disk.replace(CRLF, '\n');
  return ident ? unified.replace(IDENT, '$$Id$$') : unified;
}

/** Git counts characters that cannot be printed besides, which no text that a person writes has so many of. */
function isBinary(text: string): boolean {
  return text.includes('\0') || LONE_CR.test(text);
}
