import { lookup as systemLookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { HttpSendError } from './http-send.ts';
import { checkOutboundUrl, type OutboundRules } from './outbound-url.ts';
import { isPublicAddress } from './public-address.ts';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** Every address of a name. */
export type ResolveHost = (host: string) => Promise<readonly ResolvedAddress[]>;

export const resolveBySystem: ResolveHost = (host) => systemLookup(host, { all: true, verbatim: true });

/**
 * The addresses that may be connected to. One non-public address among several refuses the name: with a mix, the
 * attacker picks by timing which one is used. Throws `HttpSendError`.
 */
export async function resolveGuarded(
  resolve: ResolveHost,
  host: string,
  vouchedFor: boolean,
): Promise<readonly ResolvedAddress[]> {
  let addresses: readonly ResolvedAddress[];
  try {
    addresses = await resolve(host);
  } catch {
    throw new HttpSendError('connect');
  }
  if (addresses.length === 0) throw new HttpSendError('connect');
  if (!vouchedFor && !addresses.every((entry) => isPublicAddress(entry.address))) {
    throw new HttpSendError('refused');
  }
  return addresses;
}

/**
 * The same check as node's `lookup` hook: the socket connects to the very addresses that were checked, so a name that
 * changes between two lookups gains nothing. Node skips the hook for address literals; the URL check covers those.
 */
export function createGuardedLookup(resolve: ResolveHost, vouchedFor: boolean): LookupFunction {
  return (host, options, callback) => {
    resolveGuarded(resolve, host, vouchedFor).then(
      (addresses) => {
        const [first] = addresses;
        if (options.all === true) callback(null, [...addresses]);
        else if (first !== undefined) callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, ''),
    );
  };
}

export type TargetCheck = 'allowed' | 'refused' | 'unresolvable';

/** The check at write time, before a URL is stored. The one at connect time is made again for every connection. */
export async function checkOutboundTarget(
  text: string,
  rules: OutboundRules,
  resolve: ResolveHost = resolveBySystem,
): Promise<TargetCheck> {
  const target = checkOutboundUrl(text, rules);
  if (!target.ok) return 'refused';
  if (isIP(target.host) !== 0) return 'allowed';
  try {
    await resolveGuarded(resolve, target.host, target.vouchedFor);
    return 'allowed';
  } catch (error) {
    return error instanceof HttpSendError && error.kind === 'refused' ? 'refused' : 'unresolvable';
  }
}
