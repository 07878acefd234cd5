import * as z from 'zod';
import { parseHostEntry, splitHosts } from '../core/domain/host-entry.ts';

/** Values of a stage that only the functions would refuse, or that would mean something else there. */

const text = z.string().trim();

/**
 * Smallest factor of rate limits. The functions do not start with a smaller one, and at 0 every call would be over its
 * limit.
 */
const RATE_FACTOR_MIN = 0.01;
const RATE_FACTOR_MAX = 999_999;

export const RateFactor = text
  .regex(/^\d{1,6}(\.\d+)?$/, 'must be a number')
  .refine(
    (given) => Number(given) >= RATE_FACTOR_MIN && Number(given) <= RATE_FACTOR_MAX,
    `must be ${RATE_FACTOR_MIN} to ${RATE_FACTOR_MAX}`,
  );

export const HostList = text.superRefine((given, context) => {
  const fault = splitHosts(given).find((entry) => parseHostEntry(entry) === null);
  if (fault === undefined) return;
  context.addIssue({
    code: 'custom',
    message: `must be host or host:port, separated by commas, which ${fault} is not`,
  });
});

const BYTE = 256;
const ADDRESS_BITS = 32;

export const NetworkBlock = z
  .cidrv4('must be an IPv4 block such as 10.20.0.0/16')
  .regex(/\/(1[6-9]|2[0-4])$/, 'must be /16 to /24')
  .superRefine((given, context) => {
    const first = firstOfBlock(given);
    if (given === first) return;
    context.addIssue({ code: 'custom', message: `must begin with the first address of its block: ${first}` });
  });

/**
 * First address of an IPv4 block. The platform refuses a block that does not begin with it, and says so only when the
 * network is made.
 */
function firstOfBlock(block: string): string {
  const [address = '', bits = ''] = block.split('/');
  const value = address.split('.').reduce((sum, byte) => sum * BYTE + Number(byte), 0);
  const size = 2 ** (ADDRESS_BITS - Number(bits));
  const first = value - (value % size);
  const bytes = [3, 2, 1, 0].map((place) => Math.floor(first / BYTE ** place) % BYTE);
  return `${bytes.join('.')}/${bits}`;
}

/** Message of a refused address. The value is not shown with it, because it may hold a secret. */
export const WITHOUT_SECRETS = 'must be an address without credentials, query and fragment';

function isWithoutSecrets(address: string): boolean {
  const { username, password } = new URL(address);
  return username === '' && password === '' && !/[?#]/.test(address);
}

/** Base address of this service: paths are appended to it, and forges and people read it. */
export const PublicAddress = z
  .url({ protocol: /^https?$/, error: 'must be the public address of this service' })
  .refine(isWithoutSecrets, WITHOUT_SECRETS);

/** Address of the identity provider. The page shows it to every visitor. */
export const IdentityAddress = z
  .url({ protocol: /^https?$/, error: 'must be the address of an identity provider' })
  .refine(isWithoutSecrets, WITHOUT_SECRETS);
