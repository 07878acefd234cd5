import type { Secret } from '../../secret.ts';

/** Format of a key of the provider: a secret key, or one restricted to what this service does. */
const KEY = /^(sk|rk)_[A-Za-z0-9_]+$/;

/** Whether a secret holds a key of the provider; before an operator stores one, it holds what the stack put there. */
export function isPaymentsKey(key: Secret<string>): boolean {
  return KEY.test(key.reveal());
}
