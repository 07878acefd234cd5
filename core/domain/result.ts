/** A reading of the outside world: either what was read, or the plain fact that it could not be read. Never 0, never healthy (A51, A73). */
export type Reading<T> = { readonly known: true; readonly value: T } | { readonly known: false };

export const UNKNOWN: Reading<never> = { known: false };

export function known<T>(value: T): Reading<T> {
  return { known: true, value };
}

/** A reading of something that follows from another one. Of what is unknown nothing follows. */
export function mapKnown<T, U>(reading: Reading<T>, follow: (value: T) => U): Reading<U> {
  return reading.known ? known(follow(reading.value)) : UNKNOWN;
}

/** Closes an exhaustive switch: a new member of the union stops compiling here. */
export function assertNever(value: never): never {
  throw new Error(`unreachable value: ${JSON.stringify(value)}`);
}
