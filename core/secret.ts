import { inspect } from 'node:util';

const REDACTED = '[redacted]';

/** A value that prints as `[redacted]` wherever it might be printed by accident (A95). */
export class Secret<T> {
  readonly #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  /** The one way out. Call it where the value is used, never to hand it on. */
  reveal(): T {
    return this.#value;
  }

  toString(): string {
    return REDACTED;
  }

  toJSON(): string {
    return REDACTED;
  }

  [inspect.custom](): string {
    return REDACTED;
  }
}
