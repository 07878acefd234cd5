/** Flags of `npm run demo`. Unknown or malformed ones are refused with the list of what there is. */
export interface DemoOptions {
  readonly json: boolean;
  readonly keep: boolean;
  readonly fresh: boolean;
  readonly fanout: number;
  readonly dataDir: string;
  /** A real forge; null = the fake one on loopback. */
  readonly forge: { readonly url: string; readonly token: string; readonly caFile: string | null } | null;
}

const USAGE = `npm run demo -- [options]
  --json            progress on standard error; the last line of standard output is one JSON object
  --fanout N        gate runs that may burn at once, 1 to 16 (default 4)
  --keep            leave forge and service running at the end
  --fresh           forget a story that was interrupted and begin again
  --data DIR        where everything is kept (default .mergeyard/demo)
  --forge URL       the same story on a real forge, https only; needs --token
  --token T         access token there: scopes write:repository, write:issue, write:user, read:user
  --forge-ca FILE   certificate authority of that forge, if it has its own`;

export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export function parseOptions(argv: readonly string[]): DemoOptions {
  const values = new Map<string, string>();
  const switches = new Set<string>();
  for (let index = 0; index < argv.length; index += 1) {
    const name = argv[index] ?? '';
    if (['--json', '--keep', '--fresh'].includes(name)) switches.add(name);
    else if (['--fanout', '--data', '--forge', '--token', '--forge-ca'].includes(name)) {
      const value = argv[index + 1];
      if (value === undefined || value.startsWith('--'))
        throw new UsageError(`${name} needs a value\n${USAGE}`);
      values.set(name, value);
      index += 1;
    } else throw new UsageError(`unknown option ${name}\n${USAGE}`);
  }
  const fanout = Number(values.get('--fanout') ?? 4);
  if (!Number.isInteger(fanout) || fanout < 1 || fanout > 16) {
    throw new UsageError(`--fanout takes a whole number from 1 to 16\n${USAGE}`);
  }
  const url = values.get('--forge');
  const token = values.get('--token');
  if ((url === undefined) !== (token === undefined))
    throw new UsageError(`--forge and --token go together\n${USAGE}`);
  if (url !== undefined && !url.startsWith('https://'))
    throw new UsageError(`--forge takes an https URL\n${USAGE}`);
  return {
    json: switches.has('--json'),
    keep: switches.has('--keep'),
    fresh: switches.has('--fresh'),
    fanout,
    dataDir: values.get('--data') ?? '.mergeyard/demo',
    forge:
      url === undefined || token === undefined
        ? null
        : { url, token, caFile: values.get('--forge-ca') ?? null },
  };
}
