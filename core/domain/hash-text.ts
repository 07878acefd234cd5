const OFFSET = 0x811c9dc5;
const PRIME = 0x01000193;

/**
 * FNV-1a over the UTF-16 units of a text, from 0 to 2^32 - 1: the same for the same text, and spread evenly over many. It is no secret and
 * no proof: texts that give the same number are found in seconds.
 */
export function hashText(text: string): number {
  let hash = OFFSET;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), PRIME);
  return hash >>> 0;
}

/** The same over its characters, where branches that exist have names by it. */
export function hashCharacters(text: string): number {
  let hash = OFFSET;
  for (const char of text) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), PRIME);
  return hash >>> 0;
}
