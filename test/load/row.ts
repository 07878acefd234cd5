/** One row of the load table. */
export interface Row {
  readonly row: string;
  readonly goal: string;
  readonly measured: string;
  readonly ok: boolean;
}

export function percentile(values: readonly number[], share: number): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length * share)] ?? 0;
}
