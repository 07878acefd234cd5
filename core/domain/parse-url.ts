/**
 * `new URL` without the throw; null when `text` is no URL. `URL.canParse` is not used anywhere: once Node 20 has
 * optimized it (some thousand calls), it calls every text with a letter outside ASCII unparsable.
 */
export function parseUrl(text: string, base?: string): URL | null {
  try {
    return new URL(text, base);
  } catch {
    return null;
  }
}
