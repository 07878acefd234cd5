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
  /** Tasks of an engine that is up. */
  readonly size: number;
  read(): Promise<EngineState>;
  /** 0 puts it to sleep. Asking for what is so already is fine. */
  setWanted(tasks: number): Promise<void>;
}

/** Where the engine's tasks are. */
export interface EngineDirectory {
  /**
   * Base addresses (`http://host:port`) of the tasks that run; none while the engine sleeps. They may be a minute old, unless
   * `fresh`. Rejects when the platform does not answer.
   */
  list(options: { readonly fresh: boolean }): Promise<readonly string[]>;
}
