/** Pieces of a secret shorter than this may occur by chance. */
const PIECE_CHARS = 12;

/** A secret as it may leak: plain, base64 (at each of the three offsets), hex, URL-encoded. */
export function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const base64 = [0, 1, 2].map((offset) => {
    const shifted = Buffer.concat([Buffer.alloc(offset, 32), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    // The first and last characters mix with their neighbours.
    return shifted.slice(offset === 0 ? 0 : offset + 1, -2);
  });
  return [secret, ...base64, bytes.toString('hex'), encodeURIComponent(secret)];
}

/** The first form, or 12-character piece of the plain secret, found in `haystack`; null when there is none. */
export function findCanary(haystack: Buffer, secret: string): string | null {
  for (const form of formsOf(secret)) if (haystack.includes(form)) return form;
  for (let at = 0; at + PIECE_CHARS <= secret.length; at += 1) {
    const piece = secret.slice(at, at + PIECE_CHARS);
    if (haystack.includes(piece)) return piece;
  }
  return null;
}
