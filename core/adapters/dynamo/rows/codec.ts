import { Secret } from '../../../secret.ts';

/** Thrown while reading a row that is not what this version writes; `readRow` turns it into a typed store failure. */
export class UnreadableValue extends Error {}

/** Both directions of one stored value. `read` throws `UnreadableValue`, never returns a half-read value. */
export interface Codec<T> {
  write(value: T): unknown;
  read(raw: unknown): T;
  /** As `write`, in the place of `raw`: attributes of it that this release does not know stay. Absent: as `write`. */
  writeOver?(raw: unknown, value: T): unknown;
}

const writeOver = <T>(codec: Codec<T>, raw: unknown, value: T): unknown =>
  codec.writeOver === undefined ? codec.write(value) : codec.writeOver(raw, value);

function plain<T>(accepts: (raw: unknown) => raw is T): Codec<T> {
  return {
    write: (value) => value,
    read: (raw) => {
      if (!accepts(raw)) throw new UnreadableValue();
      return raw;
    },
  };
}

export const text = plain((raw): raw is string => typeof raw === 'string');
export const flag = plain((raw): raw is boolean => typeof raw === 'boolean');
/** Codec of whole numbers, for counters, times and versions. */
export const whole = plain((raw): raw is number => Number.isSafeInteger(raw));

export function oneOf<const T extends string>(values: readonly T[]): Codec<T> {
  return plain((raw): raw is T => values.some((value) => value === raw));
}

/** As `oneOf`; a word that only a newer release knows reads as `fallback`, never as something that is well. */
export function oneOfKnown<const T extends string>(values: readonly T[], fallback: NoInfer<T>): Codec<T> {
  return {
    write: (value) => value,
    read: (raw) => {
      const word = text.read(raw);
      return values.find((value) => value === word) ?? fallback;
    },
  };
}

/** Codec of a list of words, without those that only a newer release knows. */
export function listOfKnown<const T extends string>(values: readonly T[]): Codec<readonly T[]> {
  const words = listOf(text);
  return {
    write: (known) => known,
    read: (raw) => words.read(raw).filter((word): word is T => values.some((value) => value === word)),
  };
}

/**
 * Codec of what was seen on the forge and is seen again. What this release cannot read of it, such as a word of a newer one,
 * counts as not seen.
 */
export function seen<T>(inner: Codec<T>): Codec<T | undefined> {
  return {
    write: (value) => (value === undefined ? undefined : inner.write(value)),
    read: (raw) => {
      try {
        return raw === undefined ? undefined : inner.read(raw);
      } catch (error) {
        if (error instanceof UnreadableValue) return undefined;
        throw error;
      }
    },
  };
}

export const secretText: Codec<Secret<string>> = {
  write: (value) => value.reveal(),
  read: (raw) => new Secret(text.read(raw)),
};

/** Codec that stores null as null; an absent attribute is unreadable. */
export function nullable<T>(inner: Codec<T>): Codec<T | null> {
  return {
    write: (value) => (value === null ? null : inner.write(value)),
    read: (raw) => (raw === null ? null : inner.read(raw)),
    writeOver: (raw, value) => (value === null ? null : writeOver(inner, raw, value)),
  };
}

/** Codec of a value that may be undefined, which is stored as an absent attribute. */
export function optional<T>(inner: Codec<T>): Codec<T | undefined> {
  return {
    write: (value) => (value === undefined ? undefined : inner.write(value)),
    read: (raw) => (raw === undefined ? undefined : inner.read(raw)),
  };
}

/** Codec of an attribute that older rows lack: absent means `fallback`. Any other unreadable value stays unreadable. */
export function defaulted<T>(inner: Codec<T>, fallback: T): Codec<T> {
  return {
    write: (value) => inner.write(value),
    read: (raw) => (raw === undefined ? fallback : inner.read(raw)),
    writeOver: (raw, value) => writeOver(inner, raw, value),
  };
}

export function listOf<T>(inner: Codec<T>): Codec<readonly T[]> {
  return {
    write: (values) => values.map((value) => inner.write(value)),
    read: (raw) => {
      if (!Array.isArray(raw)) throw new UnreadableValue();
      return raw.map((entry) => inner.read(entry));
    },
  };
}

export function mapOf<T>(inner: Codec<T>): Codec<Readonly<Record<string, T>>> {
  const map = (values: object, convert: (value: never) => unknown) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, convert(value as never)]));
  return {
    write: (values) => map(values, (value: T) => inner.write(value)),
    read: (raw) => {
      if (typeof raw !== 'object' || raw === null) throw new UnreadableValue();
      return map(raw, (value: unknown) => inner.read(value)) as Record<string, T>;
    },
  };
}

export interface RowCodec<T> extends Codec<T> {
  write(value: T): Record<string, unknown>;
}

export interface RecordCodec<T> extends RowCodec<T> {
  writeOver(raw: unknown, value: T): Record<string, unknown>;
}

type Fields<T> = { readonly [Name in keyof T]-?: readonly [attribute: string, codec: Codec<T[Name]>] };

/** Codec of a row, from one table of (property, attribute, codec): reading and writing cannot drift apart. */
export function record<T extends object>(fields: Fields<T>): RecordCodec<T> {
  const names = Object.keys(fields) as (keyof T)[];
  const writeInto = (old: Readonly<Record<string, unknown>>, value: T): Record<string, unknown> => {
    const row: Record<string, unknown> = { ...old };
    for (const name of names) {
      const [attribute, codec] = fields[name];
      const stored = writeOver(codec, old[attribute], value[name]);
      if (stored === undefined) delete row[attribute];
      else row[attribute] = stored;
    }
    return row;
  };
  return {
    write: (value) => writeInto({}, value),
    writeOver: (raw, value) => writeInto(typeof raw === 'object' && raw !== null ? { ...raw } : {}, value),
    read: (raw) => {
      if (typeof raw !== 'object' || raw === null) throw new UnreadableValue();
      const row = raw as Readonly<Record<string, unknown>>;
      const value: Partial<T> = {};
      for (const name of names) {
        const [attribute, codec] = fields[name];
        const read = codec.read(row[attribute]);
        if (read !== undefined) value[name] = read;
      }
      return value as T;
    },
  };
}
