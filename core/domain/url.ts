import { parseUrl } from './parse-url.ts';

const UNRESERVED = /^[A-Za-z0-9._~-]$/;
/**
 * `owner/name`: exactly one slash, both parts non-empty, printable ASCII without `"` and `\` (D-88). A part that is a step
 * in a path would make another address of it: `../b` is no repository.
 */
export const SLUG_PATTERN = /^(?!\.{1,2}\/)[!#-.0-[\]-~]+\/(?!\.{1,2}$)[!#-.0-[\]-~]+$/;
export const SLUG_CHARS_MAX = 141;

/**
 * The one spelling under which an instance is compared (D-46, A101): lower-case scheme and host, punycode, no default
 * port, no userinfo, query or fragment, no trailing slash; the path keeps its case. Null when it is no http(s) URL.
 * Never shown and never called: the URL is stored as typed.
 */
export function normalizeInstanceUrl(typed: string): string | null {
  const url = parseUrl(typed);
  if (url === null) return null;
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return null;
  // `git.example.org.` is the same host, spelled as an absolute name.
  const host = url.hostname.replace(/\.+$/, '');
  if (host === '') return null;
  const port = url.port === '' ? '' : `:${url.port}`;
  return `${url.protocol}//${host}${port}${normalizePath(url.pathname)}`;
}

/** Servers treat doubled slashes and needless percent-escapes as the plain path, so they may not make a second key. */
function normalizePath(path: string): string {
  const unescaped = path.replace(/%([0-9a-fA-F]{2})/g, (escaped, hex: string) => {
    const char = String.fromCharCode(Number.parseInt(hex, 16));
    return UNRESERVED.test(char) ? char : escaped.toUpperCase();
  });
  return unescaped.replace(/\/{2,}/g, '/').replace(/\/$/, '');
}

/** `owner/name` in the spelling under which it is compared: lower case (D-46). Null when it is no slug. */
export function normalizeSlug(typed: string): string | null {
  if (typed.length > SLUG_CHARS_MAX || !SLUG_PATTERN.test(typed)) return null;
  return typed.toLowerCase();
}
