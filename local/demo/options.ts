import { GATE_KINDS, type GateKind } from '#core/domain/forge/status-gate.ts';
import { CI_WAYS } from '../forge/ci/other-ci.ts';
import type { OtherCi } from '../forge/model.ts';
import {
  ACCOUNT_USAGE,
  ForgeOptionError,
  type RealForge,
  readRealForge,
  refuseTokenOption,
} from '../forge-account.ts';
import type { WoodpeckerAccess } from './status-ci.ts';

/** Flags of `npm run demo`. Unknown or malformed ones are refused with the list of what there is. */
export interface DemoOptions {
  readonly json: boolean;
  readonly keep: boolean;
  readonly fresh: boolean;
  readonly fanout: number;
  /** Judge of the batches: a workflow of the forge, or a CI that posts statuses. */
  readonly gate: GateKind;
  /** The CI whose stand-in judges by statuses. */
  readonly ci: OtherCi;
  /** A Woodpecker of one's own that judges by statuses; null = a stand-in of it. */
  readonly woodpecker: string | null;
  readonly dataDir: string;
  /** The one box serves, instead of the cloud edition on emulators. */
  readonly onebox: boolean;
  /** A real forge; null = the fake one on loopback. */
  readonly forge: RealForge | null;
}

const USAGE = `npm run demo -- [options]
  --json            progress on standard error; the last line of standard output is one JSON object
  --fanout N        most gate runs at once, 1 to 16 (default 4)
  --gate KIND       workflow (default), or statuses: a stand-in of another CI judges, with the account of the author
  --ci KIND         with --gate statuses: woodpecker (default) or jenkins, whose ways of posting the stand-in has
  --woodpecker URL  with --forge and --gate statuses: this Woodpecker judges. WOODPECKER_TOKEN is the token of a person
                    there who administers the new repository; WOODPECKER_IMAGE the image of its step (default node:22),
                    or the name of a shell where its agent has no containers
  --onebox          the one box serves, instead of the cloud edition on emulators
  --keep            leave forge and service running at the end
  --fresh           forget a story that was interrupted and begin again
  --data DIR        where everything is kept (default .mergeyard/demo)
  --forge URL       the same story on a real forge, https only, with a runner of its own unless statuses judge; the
                    repository that is made there is deleted at the end, unless --keep is given
  --forge-ca FILE   certificate authority of that forge, if it has its own
with --forge, in the environment:
${ACCOUNT_USAGE}`;

const CI_KINDS = Object.keys(CI_WAYS) as readonly OtherCi[];

export class UsageError extends Error {
  override readonly name = 'UsageError';
  constructor(
    message: string,
    /** 0: the usage was asked for. */
    readonly exitCode: 0 | 2 = 2,
  ) {
    super(message);
  }
}

export function parseOptions(argv: readonly string[]): DemoOptions {
  if (argv.includes('--help')) throw new UsageError(USAGE, 0);
  try {
    refuseTokenOption(argv);
    return parse(argv);
  } catch (error) {
    if (error instanceof ForgeOptionError) throw new UsageError(`${error.message}\n${USAGE}`);
    throw error;
  }
}

function parse(argv: readonly string[]): DemoOptions {
  const values = new Map<string, string>();
  const switches = new Set<string>();
  for (let index = 0; index < argv.length; index += 1) {
    const name = argv[index] ?? '';
    if (['--json', '--keep', '--fresh', '--onebox'].includes(name)) switches.add(name);
    else if (
      ['--fanout', '--gate', '--ci', '--woodpecker', '--data', '--forge', '--forge-ca'].includes(name)
    ) {
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
  const gate = GATE_KINDS.find((kind) => kind === (values.get('--gate') ?? 'workflow'));
  if (gate === undefined) throw new UsageError(`--gate takes workflow or statuses\n${USAGE}`);
  const ci = CI_KINDS.find((kind) => kind === (values.get('--ci') ?? 'woodpecker'));
  if (ci === undefined || (values.has('--ci') && gate !== 'statuses'))
    throw new UsageError(`--ci takes ${CI_KINDS.join(' or ')}, and goes with --gate statuses\n${USAGE}`);
  const woodpecker = values.get('--woodpecker') ?? null;
  if (woodpecker !== null && ci !== 'woodpecker')
    throw new UsageError(`--woodpecker goes with --ci woodpecker\n${USAGE}`);
  if (woodpecker !== null && (gate !== 'statuses' || !values.has('--forge')))
    throw new UsageError(`--woodpecker goes with --forge and --gate statuses\n${USAGE}`);
  if (woodpecker !== null && !/^https?:\/\//.test(woodpecker))
    throw new UsageError(`--woodpecker takes an address with http or https\n${USAGE}`);
  return {
    gate,
    ci,
    woodpecker: woodpecker?.replace(/\/+$/, '') ?? null,
    json: switches.has('--json'),
    keep: switches.has('--keep'),
    fresh: switches.has('--fresh'),
    onebox: switches.has('--onebox'),
    fanout,
    dataDir: values.get('--data') ?? '.mergeyard/demo',
    forge: readRealForge(values.get('--forge'), values.get('--forge-ca')),
  };
}

const DEFAULT_IMAGE = 'node:22';

/** Null: no Woodpecker was named. */
export function readWoodpeckerAccess(
  url: string | null,
  env: Readonly<Record<string, string | undefined>>,
): WoodpeckerAccess | null {
  if (url === null) return null;
  const token = env.WOODPECKER_TOKEN ?? '';
  if (token === '') throw new UsageError(`--woodpecker needs WOODPECKER_TOKEN in the environment\n${USAGE}`);
  return { url, token, image: env.WOODPECKER_IMAGE ?? DEFAULT_IMAGE };
}
