import type { EpochMs } from '../domain/ids.ts';

export interface EngineState {
  /** Tasks that should run. */
  readonly wanted: number;
  /** Tasks that do. */
  readonly running: number;
  /** When the service last changed: a start, a stop or a deployment. */
  readonly changedAt: EpochMs;
}

/** The tasks of the engine, which may sleep while no repository needs them. Rejects when the platform does not answer. */
export interface EngineFleet {
  read(): Promise<EngineState>;
  /** 0 puts it to sleep. Asking for what is so already is fine. */
  setWanted(tasks: 0 | 1): Promise<void>;
}
