/** The few DER forms an X.509 certificate needs. */
export function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  if (body.length < 0x80) return Buffer.concat([Buffer.from([tag, body.length]), body]);
  const digits: number[] = [];
  for (let rest = body.length; rest > 0; rest = Math.floor(rest / 256)) digits.unshift(rest % 256);
  return Buffer.concat([Buffer.from([tag, 0x80 | digits.length, ...digits]), body]);
}

export const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, ...parts);
export const set = (...parts: readonly Buffer[]): Buffer => der(0x31, ...parts);
export const octets = (body: Buffer): Buffer => der(0x04, body);
export const utf8 = (text: string): Buffer => der(0x0c, Buffer.from(text));
export const boolTrue = (): Buffer => der(0x01, Buffer.from([0xff]));
/** Constructed, context-specific. */
export const tagged = (tag: number, ...parts: readonly Buffer[]): Buffer => der(0xa0 | tag, ...parts);
/** Primitive, context-specific. */
export const implicit = (tag: number, body: Buffer): Buffer => der(0x80 | tag, body);

/** Unsigned, big endian. */
export function integer(bytes: Buffer): Buffer {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start++;
  const trimmed = bytes.subarray(start);
  const negative = ((trimmed[0] ?? 0) & 0x80) !== 0;
  return der(0x02, negative ? Buffer.concat([Buffer.from([0]), trimmed]) : trimmed);
}

export function bits(body: Buffer, unused = 0): Buffer {
  return der(0x03, Buffer.from([unused]), body);
}

export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second];
  for (const arc of rest) {
    const digits = [arc & 0x7f];
    for (let left = arc >>> 7; left > 0; left >>>= 7) digits.unshift((left & 0x7f) | 0x80);
    bytes.push(...digits);
  }
  return der(0x06, Buffer.from(bytes));
}

/** Two-digit years up to 2049, four-digit ones after, as RFC 5280 asks. */
export function time(at: Date): Buffer {
  const digits = at.toISOString().replace(/[-:T]|\.\d+/g, '');
  return at.getUTCFullYear() < 2050
    ? der(0x17, Buffer.from(digits.slice(2)))
    : der(0x18, Buffer.from(digits));
}
