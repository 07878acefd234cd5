import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { LogSink } from '../../core/ports/invocable.ts';
import type { ScalableService } from '../emulators/ecs.ts';

export interface ContainerSpec {
  readonly name: string;
  /** ARN and name of its service. */
  readonly serviceNames: readonly string[];
  /** Build context of the image: one bundled file. */
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Where its port is on loopback. */
  readonly port: number;
  /** Shown in the process list, so that one left behind by a killed run is found again. */
  readonly tag: string;
}

const RESTART_MS_MIN = 200;
const RESTART_MS_MAX = 5_000;
/** One that lived this long had started well. */
const HEALTHY_LIFE_MS = 2_000;
const HEALTH_EVERY_MS = 50;
const HEALTHY_WITHIN_MS = 15_000;
const STOP_WITHIN_MS = 5_000;

/** One container of a service with a desired count of one, as a child process: started again whenever it ends. */
export class Container implements ScalableService {
  readonly spec: ContainerSpec;
  readonly #log: LogSink;
  #child: ChildProcess | null = null;
  #stopped = false;
  #starts = 0;
  #restartMs = RESTART_MS_MIN;
  #changedAt = Date.now();

  constructor(spec: ContainerSpec, log: LogSink) {
    this.spec = spec;
    this.#log = log;
  }

  /** How often it was started. */
  get starts(): number {
    return this.#starts;
  }

  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  get names(): readonly string[] {
    return this.spec.serviceNames;
  }

  get wanted(): number {
    return this.#stopped ? 0 : 1;
  }

  get running(): number {
    return this.#child === null ? 0 : 1;
  }

  get changedAt(): number {
    return this.#changedAt;
  }

  async scale(tasks: number): Promise<void> {
    if (tasks === 0) return this.stop();
    if (!this.#stopped) return;
    this.#stopped = false;
    this.start();
  }

  start(): void {
    this.#changedAt = Date.now();
    const { name, folder, environment, tag } = this.spec;
    const child = spawn(process.execPath, ['--enable-source-maps', join(folder, 'index.mjs'), tag], {
      env: { ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    this.#starts += 1;
    const startedAt = performance.now();
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => this.#log(name, text));
    }
    child.once('exit', (code, signal) => {
      this.#child = null;
      if (this.#stopped) return;
      this.#log(name, `ended with ${signal ?? code}, starting again\n`);
      const livedWell = performance.now() - startedAt > HEALTHY_LIFE_MS;
      const delayMs = livedWell ? RESTART_MS_MIN : this.#restartMs;
      this.#restartMs = Math.min(delayMs * 2, RESTART_MS_MAX);
      setTimeout(() => {
        if (!this.#stopped) this.start();
      }, delayMs);
    });
  }

  /** As the platform's health check asks. */
  async isHealthy(): Promise<boolean> {
    try {
      const response = await fetch(`http://127.0.0.1:${this.spec.port}/healthz`, {
        signal: AbortSignal.timeout(1000),
      });
      return response.ok;
    } catch {
      return false;
    }
  }

  async waitUntilHealthy(): Promise<void> {
    const deadline = performance.now() + HEALTHY_WITHIN_MS;
    while (!(await this.isHealthy())) {
      if (performance.now() > deadline) throw new Error(`${this.spec.name} did not become healthy`);
      await wait(HEALTH_EVERY_MS);
    }
  }

  /** `kill -9`; the stand-in starts it again. */
  kill(): void {
    this.#child?.kill('SIGKILL');
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#changedAt = Date.now();
    const child = this.#child;
    if (child === null) return;
    await new Promise<void>((resolve) => {
      const force = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
      child.once('exit', () => {
        clearTimeout(force);
        resolve();
      });
      child.kill('SIGTERM');
    });
  }
}
