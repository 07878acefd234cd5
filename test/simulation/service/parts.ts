import { AppError } from '#core/contracts/errors.ts';
import type { RepoId } from '#core/domain/ids.ts';
import { StoreError } from '#core/ports/store.ts';
import { type Log, VaultError } from '#core/ports/system.ts';
import { Secret } from '#core/secret.ts';
import type { AbstractForge } from '../../fakes/abstract-forge/abstract-forge.ts';
import { Crash } from '../../support/machine.ts';
import type { SeededRandom } from '../../support/seeded-random.ts';
import type { SimClock } from '../../support/sim-clock.ts';
import type { WatchedStore } from '../sightings.ts';
import type { Hosts, Witness } from './hosts.ts';

/** The things that all parts of the service of one life share. */
export interface Parts {
  readonly clock: SimClock;
  readonly random: SeededRandom;
  readonly witness: Witness;
  readonly hosts: Hosts;
  readonly store: WatchedStore;
  readonly forges: ReadonlyMap<RepoId, AbstractForge>;
  readonly ids: { readonly uuid: () => string };
  readonly log: Log;
}

/** The result of a run of a function for the platform that called it. */
export type Settled = 'done' | 'retry' | 'died';

/** An unexpected error is a defect. */
export async function settle(witness: Witness, run: () => Promise<unknown>): Promise<Settled> {
  try {
    await run();
    return 'done';
  } catch (error) {
    if (error instanceof Crash) return 'died';
    if (error instanceof StoreError) return 'retry';
    if (error instanceof AppError) {
      witness.sometimes(`refused ${error.code}`);
      return 'done';
    }
    witness.violate(`threw ${error instanceof Error ? error.stack : 'not an error'}`);
    return 'done';
  }
}

/** Every token of a life begins so, and nothing else does. */
export const TOKEN_PREFIX = 'canary-token-of-';

export function tokenOf(tenantId: string): string {
  return `${TOKEN_PREFIX}${tenantId}`;
}

/** The token of a connection; the vault fails as often as the store does. */
export function openToken({ random, hosts }: Parts, tenantId: string): Secret<string> {
  if (random.chance(hosts.odds.storeFails)) throw new VaultError('unavailable');
  return new Secret(tokenOf(tenantId));
}
