import { Resolver, lookup as systemLookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import { HttpSendError } from './http-send.ts';
import { checkOutboundUrl, type OutboundRules } from './outbound-url.ts';
import { isPublicAddress } from './public-address.ts';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** Every address of a name. */
export type ResolveHost = (host: string) => Promise<readonly ResolvedAddress[]>;

/** Longest look-up, in ms: longer than any call waits for a name. */
const LOOKUP_MS_MAX = 10_000;
/** Longest look-up while a person waits who sets an address, in ms. */
const TARGET_LOOKUP_MS_MAX = 5_000;
/** Wait until the question is sent again, in ms; each further wait is twice as long. */
const DNS_TRY_MS = 1_500;
const DNS_TRIES = 4;

/** Resolves with the files and services of this machine, which alone know the names of its own network. */
const resolveBySystem: ResolveHost = (host) => systemLookup(host, { all: true, verbatim: true });

/**
 * Asks the DNS servers of the machine itself. The system's resolver holds a thread until it gives a name up, and a process
 * has two of them for names: two whose servers say nothing would hold up those of every tenant, and of the table.
 */
export function createDnsLookup(
  options: { readonly servers?: readonly string[]; readonly limitMs?: number } = {},
): ResolveHost {
  return async (host) => {
    // One for each look: it reads the servers anew, and its end is no end of another.
    const resolver = new Resolver({ timeout: DNS_TRY_MS, tries: DNS_TRIES });
    if (options.servers !== undefined) resolver.setServers(options.servers);
    const limit = setTimeout(() => resolver.cancel(), options.limitMs ?? LOOKUP_MS_MAX);
    try {
      const answers = await Promise.allSettled([
        resolver.resolve6(host).then((found) => found.map((address) => ({ address, family: 6 }))),
        resolver.resolve4(host).then((found) => found.map((address) => ({ address, family: 4 }))),
      ]);
      const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
      const failed = answers.find((answer) => answer.status === 'rejected');
      if (found.length === 0 && failed !== undefined) throw failed.reason;
      return hasPublicIpv6() ? found : found.toReversed();
    } finally {
      clearTimeout(limit);
    }
  };
}

/** Whether this machine has a public IPv6 address; the system tries first the family that leads out. */
function hasPublicIpv6(): boolean {
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return addresses.some(({ address, family }) => family === 'IPv6' && isPublicAddress(address));
}

const resolveByDns = createDnsLookup();

/**
 * The resolver for a name: the machine's own files count for names that the operator vouches for, and not for those of
 * strangers.
 */
export function resolverFor(vouchedFor: boolean): ResolveHost {
  return vouchedFor ? resolveBySystem : resolveByDns;
}

/**
 * Resolves a name to addresses that may be connected to. One non-public address among several refuses the name: with a
 * mix, an attacker picks by timing which one is used. Throws `HttpSendError`.
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
 * The check of `resolveGuarded` as Node's `lookup` hook: the socket connects to the very addresses that were checked,
 * so a name that changes between two look-ups gains nothing. Node skips the hook for address literals; the check of the
 * URL covers those.
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

/** Checks a target before its URL is stored. The check at connect time is made for every connection. */
export async function checkOutboundTarget(
  text: string,
  rules: OutboundRules,
  resolve?: ResolveHost,
  limitMs = TARGET_LOOKUP_MS_MAX,
): Promise<TargetCheck> {
  const target = checkOutboundUrl(text, rules);
  if (!target.ok) return 'refused';
  if (isIP(target.host) !== 0) return 'allowed';
  try {
    const lookup = resolve ?? resolverFor(target.vouchedFor);
    await within(limitMs, resolveGuarded(lookup, target.host, target.vouchedFor));
    return 'allowed';
  } catch (error) {
    return error instanceof HttpSendError && error.kind === 'refused' ? 'refused' : 'unresolvable';
  }
}

async function within<T>(limitMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new HttpSendError('connect')), limitMs);
  });
  return Promise.race([work, over]).finally(() => clearTimeout(timer));
}
