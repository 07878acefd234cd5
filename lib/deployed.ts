import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import type { StageConfig } from './stage-config.ts';
import { readJson } from './stage-file.ts';

/** The parts of a deployment that a later one must not lose by a forgotten key. Nothing secret. */
const Deployed = z.object({
  serviceName: z.string(),
  keyVersion: z.int(),
  oldestKeyVersion: z.int(),
  /** The operator has stored keys of a payment provider. */
  sells: z.boolean(),
  /** The operator has stored the key of a mail provider. */
  mailsByProvider: z.boolean(),
  /** The operator has stored the static key of credentials of format v1. */
  legacyCredentials: z.boolean(),
  /** The stack has a key that signs statements of landings. Earlier records do not say it. */
  evidenceKey: z.boolean().default(false),
  adminEmail: z.string().nullable(),
  /** Whether a user pool of the stack holds the people. */
  ownUserPool: z.boolean(),
  /** The network: a VPC's id, or the block of the one that the stack makes. Earlier records do not say it. */
  network: z.string().nullable().default(null),
  /** Zones of that network, where they were named. Earlier records do not say it. */
  zones: z.string().nullable().default(null),
  /** Place of the secrets. A record older than 2026-11-22 does not say it. */
  secretsIn: z.enum(['secrets-manager', 'parameters']).default('secrets-manager'),
  /**
   * Whether the user pool takes `Ada@…` and `ada@…` for two people, as pools older than 2026-11-27 do. A pool keeps
   * what it was made with.
   */
  tellsCapitalsApart: z.boolean().default(true),
});
export type Deployed = z.infer<typeof Deployed>;

export const DEPLOYED_OUTPUT = 'Deployed';

export function deployedFile(folder: string, stage: string): string {
  return join(folder, `${stage}.deployed.json`);
}

export function describeDeployment(config: StageConfig, tellsCapitalsApart = false): Deployed {
  return {
    serviceName: config.serviceName,
    keyVersion: config.keyVersion,
    oldestKeyVersion: config.oldestKeyVersion,
    sells: config.paymentsPrices !== '',
    mailsByProvider: config.mail.apiUrl !== undefined,
    legacyCredentials: config.legacyCredentials,
    evidenceKey: config.evidenceKey,
    adminEmail: config.adminEmail ?? null,
    ownUserPool: config.identityUrl === undefined,
    network: config.network.own?.vpcId ?? config.network.cidr,
    zones: config.network.zones?.join() ?? null,
    secretsIn: 'parameters',
    tellsCapitalsApart,
  };
}

/**
 * The record of the last deployment of a stage. Null: this stage was never deployed from here. Throws where the record
 * cannot be read.
 */
export function readDeployed(folder: string, stage: string): Deployed | null {
  const file = deployedFile(folder, stage);
  if (!existsSync(file)) return null;
  const parsed = Deployed.safeParse(readJson(file));
  if (!parsed.success) throw new Error(`${file}: is not a record of a deployment`);
  return parsed.data;
}

/** Shape of the file that `cdk deploy --outputs-file` writes: stack, output, value. */
const Outputs = z.record(z.string(), z.record(z.string(), z.string()));

/** The record in the outputs that `cdk deploy --outputs-file` has written, by stage. */
export function parseOutputs(outputs: unknown): ReadonlyMap<string, Deployed> {
  const stacks = Outputs.parse(outputs);
  const found = Object.entries(stacks).flatMap(([stack, values]) => {
    const text = values[DEPLOYED_OUTPUT];
    return text === undefined ? [] : [[stack.replace(/^.*-/, ''), Deployed.parse(JSON.parse(text))] as const];
  });
  return new Map(found);
}

/** Addresses of what was deployed, by stack. */
export function readBaseUrls(outputs: unknown): ReadonlyMap<string, string> {
  const stacks = Outputs.parse(outputs);
  return new Map(
    Object.entries(stacks).flatMap(([stack, { BaseUrl }]) =>
      BaseUrl === undefined ? [] : [[stack, BaseUrl]],
    ),
  );
}

/** The parts of the last deployment that this one would lose, each with its cure. */
export function findLosses(before: Deployed, next: Deployed): readonly string[] {
  const losses: (string | false)[] = [
    before.serviceName !== next.serviceName &&
      `serviceName is ${next.serviceName}, and ${before.serviceName} is deployed: branch rules and gates name it. Keep serviceName=${before.serviceName}`,
    before.keyVersion > next.keyVersion &&
      `keyVersion is ${next.keyVersion}, and ${before.keyVersion} is deployed: tokens that version ${before.keyVersion} has sealed could not be opened. Keep keyVersion=${before.keyVersion}`,
    before.oldestKeyVersion > next.oldestKeyVersion &&
      `oldestKeyVersion is ${next.oldestKeyVersion}, and ${before.oldestKeyVersion} is deployed: a new key would be made under an old number. Keep oldestKeyVersion=${before.oldestKeyVersion}`,
    before.sells &&
      !next.sells &&
      'paymentsPrices is missing: the secrets of the payment provider, whose values were stored by hand, would leave the stack. Keep paymentsPrices',
    before.mailsByProvider &&
      !next.mailsByProvider &&
      'emailApiUrl is missing: the key of the mail provider, which was stored by hand, would leave the stack. Keep emailApiUrl',
    before.legacyCredentials &&
      !next.legacyCredentials &&
      'legacyCredentials is missing: tokens of the formats v1 and v2 would not open, and the key of v1, which was stored by hand, would leave the stack. Keep legacyCredentials',
    before.evidenceKey &&
      !next.evidenceKey &&
      'evidenceKey is missing: the key that signs statements of landings would leave the stack, and a later one would be another. Keep evidenceKey',
    before.adminEmail !== null &&
      before.adminEmail !== next.adminEmail &&
      `adminEmail is ${next.adminEmail ?? 'missing'}, and ${before.adminEmail} is deployed: that administrator would be removed. Keep adminEmail=${before.adminEmail}, and make others with npm run admin`,
    before.network !== null &&
      before.network !== next.network &&
      `the network is ${next.network}, and ${before.network} is deployed: engine and functions would move to another one while they work. Keep ${before.network.startsWith('vpc-') ? 'vpcId' : 'vpcCidr'}=${before.network}`,
    (before.network ?? next.network) === next.network &&
      before.zones !== next.zones &&
      `the zones of the network are ${next.zones ?? 'not named'}, and ${before.zones ?? 'none'} are deployed by name: its subnets would be made anew. ${before.zones === null ? 'Leave vpcZones out' : `Keep vpcZones=${before.zones}`}`,
    before.ownUserPool &&
      !next.ownUserPool &&
      'identityUrl is given, and people sign in with the user pool of the stack: it would leave the stack with all of them. Leave identityUrl out',
  ];
  return losses.filter((loss) => loss !== false);
}
