interface GlobOptions {
  /** With a separator (true: `/`; else each character is one) `*` and `?` stop there, `**` crosses it; without, `*` matches anything. */
  readonly separator: boolean | './';
}

const SPECIAL = /[.+^$()|\\/{}[\]*?]/;

/** Compiles the glob dialect of branch rules, required contexts and hook filters. Never throws: a broken one matches itself. */
export function compileGlob(pattern: string, options: GlobOptions): RegExp {
  try {
    return new RegExp(`^${translate(pattern, options.separator)}$`);
  } catch {
    return new RegExp(`^${[...pattern].map(escapeChar).join('')}$`);
  }
}

function translate(pattern: string, separator: boolean | './'): string {
  const any = separator === './' ? '[^./]' : separator ? '[^/]' : '[\\s\\S]';
  let out = '';
  let depth = 0;
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at] ?? '';
    if (char === '\\') out += escapeChar(pattern[++at] ?? '\\');
    else if (char === '*' && pattern[at + 1] === '*') {
      out += '[\\s\\S]*';
      at++;
    } else if (char === '*') out += `${any}*`;
    else if (char === '?') out += any;
    else if (char === '[') {
      const end = pattern.indexOf(']', at + 2);
      if (end < 0) throw new Error('open class');
      const body = pattern
        .slice(at + 1, end)
        .replace(/^!/, '^')
        .replace(/\\/g, '\\\\');
      out += `[${body}]`;
      at = end;
    } else if (char === '{') {
      depth++;
      out += '(?:';
    } else if (char === '}' && depth > 0) {
      depth--;
      out += ')';
    } else if (char === ',' && depth > 0) out += '|';
    else out += escapeChar(char);
  }
  return out;
}

function escapeChar(char: string): string {
  return SPECIAL.test(char) ? `\\${char}` : char;
}

export function isGlob(pattern: string): boolean {
  return /[*?[\]{}\\]/.test(pattern);
}
