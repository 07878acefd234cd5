export type Yaml = string | null | readonly Yaml[] | { readonly [key: string]: Yaml };

interface Line {
  readonly indent: number;
  readonly text: string;
  readonly raw: string;
}

export class YamlError extends Error {
  override readonly name = 'YamlError';
}

/**
 * Reads the part of YAML that workflow files use: block maps and lists, flow lists and maps on one line, quoted and
 * plain scalars, block scalars, comments. Scalars stay text. Anchors, tags and several documents are not read.
 */
export function readYaml(source: string): Yaml {
  const lines = source.split(/\r?\n/).map((raw): Line => {
    const text = raw.trim();
    return { indent: raw.length - raw.trimStart().length, text, raw };
  });
  const reader = new Reader(lines);
  const value = reader.block(0);
  if (!reader.atEnd()) throw new YamlError('unexpected indentation');
  return value;
}

class Reader {
  readonly #lines: readonly Line[];
  #at = 0;

  constructor(lines: readonly Line[]) {
    this.#lines = lines;
  }

  atEnd(): boolean {
    return this.#peek() === undefined;
  }

  #peek(): Line | undefined {
    for (;;) {
      const line = this.#lines[this.#at];
      if (line === undefined) return undefined;
      if (line.text !== '' && !line.text.startsWith('#') && line.text !== '---') return line;
      this.#at++;
    }
  }

  block(minIndent: number): Yaml {
    const first = this.#peek();
    if (first === undefined || first.indent < minIndent) return null;
    if (first.text === '-' || first.text.startsWith('- ')) return this.#list(first.indent);
    if (splitKey(first.text) !== null) return this.#map(first.indent);
    this.#at++;
    return scalar(stripComment(first.text));
  }

  #list(indent: number): Yaml {
    const items: Yaml[] = [];
    for (let line = this.#peek(); line !== undefined; line = this.#peek()) {
      if (line.indent !== indent || (line.text !== '-' && !line.text.startsWith('- '))) break;
      const rest = line.text.slice(1).trimStart();
      if (rest === '' || rest.startsWith('#')) {
        this.#at++;
        items.push(this.block(indent + 1));
      } else if (splitKey(rest) !== null && !/^["'[{]/.test(rest)) {
        items.push(this.#map(indent + line.text.length - rest.length, rest));
      } else {
        this.#at++;
        items.push(this.#value(rest, indent));
      }
    }
    return items;
  }

  /** `inline`: the first key stands on the line of a list dash. */
  #map(indent: number, inline?: string): Yaml {
    const entries: Record<string, Yaml> = Object.create(null);
    let text = inline;
    for (let line = this.#peek(); line !== undefined; line = this.#peek()) {
      if (text === undefined) {
        if (line.indent !== indent) break;
        text = line.text;
      }
      const pair = splitKey(text);
      if (pair === null) break;
      this.#at++;
      entries[pair.key] = this.#value(pair.rest, indent);
      text = undefined;
    }
    return entries;
  }

  #value(rest: string, indent: number): Yaml {
    const style = /^([|>])([+-]?)\d*\s*(#.*)?$/.exec(rest);
    if (style !== null) return this.#blockScalar(indent, style[1] === '>', style[2] ?? '');
    const text = stripComment(rest);
    if (text !== '') return scalar(text);
    const next = this.#peek();
    // A list may stand at the indentation of its key.
    const isList = next !== undefined && next.indent === indent && /^-( |$)/.test(next.text);
    return this.block(isList ? indent : indent + 1);
  }

  #blockScalar(parent: number, folded: boolean, chomp: string): string {
    const body: string[] = [];
    let indent: number | null = null;
    for (; this.#at < this.#lines.length; this.#at++) {
      const line = this.#lines[this.#at];
      if (line === undefined) break;
      if (line.text === '') {
        body.push('');
        continue;
      }
      if (line.indent <= parent) break;
      indent ??= line.indent;
      body.push(line.raw.slice(Math.min(indent, line.indent)));
    }
    while (body.at(-1) === '') body.pop();
    const text = folded ? body.join(' ') : body.join('\n');
    return chomp === '-' || text === '' ? text : `${text}\n`;
  }
}

function splitKey(text: string): { readonly key: string; readonly rest: string } | null {
  const quoted = /^(?:"([^"]*)"|'([^']*)')\s*:(?:\s+|$)(.*)$/.exec(text);
  if (quoted !== null) return { key: quoted[1] ?? quoted[2] ?? '', rest: quoted[3] ?? '' };
  if (/^["'[{]/.test(text)) return null;
  const plain = /^([^:#]+(?::[^\s:#][^:#]*)*?)\s*:(?:\s+(.*))?$/.exec(text);
  return plain === null ? null : { key: (plain[1] ?? '').trim(), rest: plain[2] ?? '' };
}

/** A `#` opens a comment at the start or after a blank, outside quotes. */
function stripComment(text: string): string {
  let quote = '';
  for (let at = 0; at < text.length; at++) {
    const char = text[at] ?? '';
    if (quote !== '') {
      if (char === quote) quote = '';
    } else if ((char === '"' || char === "'") && (at === 0 || /[\s[{,]/.test(text[at - 1] ?? '')))
      quote = char;
    else if (char === '#' && (at === 0 || /\s/.test(text[at - 1] ?? ''))) return text.slice(0, at).trim();
  }
  return text.trim();
}

function scalar(text: string): Yaml {
  if (text === '' || text === '~' || text === 'null') return null;
  if (text.startsWith('[') && text.endsWith(']')) return splitFlow(text.slice(1, -1)).map(scalar);
  if (text.startsWith('{') && text.endsWith('}')) {
    const entries: Record<string, Yaml> = Object.create(null);
    for (const part of splitFlow(text.slice(1, -1))) {
      const pair = splitKey(part);
      if (pair !== null) entries[pair.key] = scalar(pair.rest);
      else entries[part] = null;
    }
    return entries;
  }
  if (text.length >= 2 && text.startsWith('"') && text.endsWith('"')) {
    return text
      .slice(1, -1)
      .replace(/\\(["\\nt])/g, (_, char: string) => ({ n: '\n', t: '\t' })[char] ?? char);
  }
  if (text.length >= 2 && text.startsWith("'") && text.endsWith("'"))
    return text.slice(1, -1).replaceAll("''", "'");
  return text;
}

function splitFlow(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let quote = '';
  let part = '';
  for (const char of text) {
    if (quote !== '') {
      if (char === quote) quote = '';
    } else if (char === '"' || char === "'") quote = char;
    else if (char === '[' || char === '{') depth++;
    else if (char === ']' || char === '}') depth--;
    if (char === ',' && depth === 0 && quote === '') {
      parts.push(part.trim());
      part = '';
    } else part += char;
  }
  if (part.trim() !== '') parts.push(part.trim());
  return parts;
}
