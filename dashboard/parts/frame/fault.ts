import { createContext, useContext } from 'react';
import { ApiError } from '#core/contracts/routes/client.ts';

/** Words for what may be wrong with a field, by the name that the service gives it, or by a code that is about one. */
export type Faults = Readonly<Record<string, string>>;

/** The fault of the call of a form that failed last. */
export interface Fault {
  /** A key of the form's `Faults`. */
  readonly key: string;
  readonly words: string;
  /** Another failure with the same fault is another object. */
  readonly error: ApiError;
}

/** Null: the failure is about no field of the form, or nothing failed. */
export function faultOf(error: unknown, faults: Faults): Fault | null {
  if (!(error instanceof ApiError)) return null;
  const key = [error.field, error.code].find((each) => each !== null && faults[each] !== undefined);
  const words = key == null ? undefined : faults[key];
  return key == null || words === undefined ? null : { key, words, error };
}

export const FaultContext = createContext<Fault | null>(null);

/** The fault, if it is about a field of one of these names. */
export function useFault(names: readonly string[]): Fault | null {
  const fault = useContext(FaultContext);
  return fault !== null && names.includes(fault.key) ? fault : null;
}
