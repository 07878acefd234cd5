import type { Assignment } from '../attributes.ts';

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

/** The conversion by the last values that `.gitattributes` gives; `crlf` is the former name of `text`. */
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

/** All that a conversion asks of a file: it is read through once, whatever the rules and however many. */
export interface ConvertedText {
  readonly hasCrlf: boolean;
  readonly hasLoneLf: boolean;
  /** Git takes it for no text, where it decides that itself. */
  readonly isBinary: boolean;
  /** `$Id$` as it is written, or with a text behind it. */
  readonly hasBareIdent: boolean;
  readonly hasFilledIdent: boolean;
}

const [NUL, LF, CR] = [0, 10, 13];
const FILLED_IDENT = /\$Id:[^\n$]*\$/;

export function readText(content: Buffer): ConvertedText {
  let [hasCrlf, hasLoneLf, hasLoneCr] = [false, false, false];
  for (let at = content.indexOf(LF); at !== -1 && !(hasCrlf && hasLoneLf); at = content.indexOf(LF, at + 1)) {
    if (content[at - 1] === CR) hasCrlf = true;
    else hasLoneLf = true;
  }
  for (let at = content.indexOf(CR); at !== -1 && !hasLoneCr; at = content.indexOf(CR, at + 1))
    hasLoneCr = content[at + 1] !== LF;
  const hasIdent = content.includes('$Id');
  return {
    hasCrlf,
    hasLoneLf,
    // Git counts characters that cannot be printed besides, which no text that a person writes has so many of.
    isBinary: hasLoneCr || content.includes(NUL),
    hasBareIdent: hasIdent && content.includes('$Id$'),
    hasFilledIdent: hasIdent && FILLED_IDENT.test(content.toString('latin1')),
  };
}

/** Whether a file is another one after it was written to disk by one conversion and read back by another. */
export function isRewritten(text: ConvertedText, written: Conversion, read: Conversion): boolean {
  return areLinesRewritten(text, written, read) || isIdentRewritten(text, written, read);
}

function areLinesRewritten(
  { hasCrlf, hasLoneLf, isBinary }: ConvertedText,
  written: Conversion,
  read: Conversion,
): boolean {
  const isKept = written.lineEnds === 'auto' && (hasCrlf || isBinary);
  const getsCrlf = written.writesCrlf && hasLoneLf && !isKept;
  // With `auto` git leaves a file alone that has CRLF in the index already.
  const isLeft = read.lineEnds === 'never' || (read.lineEnds === 'auto' && (hasCrlf || isBinary));
  return isLeft ? getsCrlf : hasCrlf;
}

function isIdentRewritten(
  { hasBareIdent, hasFilledIdent }: ConvertedText,
  written: Conversion,
  read: Conversion,
): boolean {
  if (read.ident) return hasFilledIdent;
  return written.ident && (hasBareIdent || hasFilledIdent);
}
