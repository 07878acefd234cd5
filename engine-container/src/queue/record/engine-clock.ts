import type { EpochMs } from '#core/domain/ids.ts';

/** One instant by both clocks of an engine. */
export interface EngineClock {
  /** Of the process: the monotonic clock of another one says nothing. */
  readonly engine: string;
  readonly wall: EpochMs;
  /** ms. */
  readonly monotonic: number;
}
