/** First of several names that is present. Payload format 2.0 has names in lower case. */
export function readHeader(
  headers: Readonly<Record<string, string | undefined>>,
  ...names: readonly [string, ...string[]]
): string | undefined {
  for (const name of names) {
    const value = headers[name];
    if (value !== undefined && value !== '') return value;
  }
  return undefined;
}
