/** `--name value` of the command line. */
export function option(name: string): string | undefined {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? undefined : process.argv[at + 1];
}

export function countOption(name: string, otherwise: number): number {
  const text = option(name);
  if (text === undefined) return otherwise;
  if (!/^\d+$/.test(text)) throw new Error(`--${name} is a whole number, not ${text}`);
  return Number(text);
}

export function hasOption(name: string): boolean {
  return process.argv.includes(`--${name}`);
}
