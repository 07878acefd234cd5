import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { InvocationError, type Json, type LogSink } from '../../core/ports/invocable.ts';
import { fail, type Template } from './template.ts';

export interface FunctionSpec {
  readonly name: string;
  readonly arn: string;
  /** `index.mjs` of the code asset. */
  readonly file: string;
  /** Everything the function sees in `process.env`. */
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly memoryMb: number;
}

interface Reply {
  readonly id: number;
  readonly ok: boolean;
  readonly result?: Json;
  readonly error?: { readonly name: string; readonly message: string };
}

interface Instance {
  readonly worker: Worker;
  /** Its code is loaded. As on the service, that takes nothing from the time of an invocation. */
  readonly ready: Promise<void>;
  busy: boolean;
  /** Ends the invocation under way, if any. */
  settle: ((reply: Reply | { readonly died: string }) => void) | null;
}

/** Instances of one function at a time on this machine; more invocations wait, as they do under a concurrency limit. */
const INSTANCES_MAX = 4;
/** Loading the code; generous, because a machine may start many of them at once. */
const INIT_MS_MAX = 60_000;
const ENTRY = fileURLToPath(new URL('./thread-entry.mjs', import.meta.url));

/**
 * One function as threads: an instance serves one invocation at a time and is kept for the next. It gets exactly the
 * environment it is given; node options of the template that concern a whole process do not apply to a thread.
 */
export class FunctionPool {
  readonly spec: FunctionSpec;
  readonly #log: LogSink;
  readonly #instances = new Set<Instance>();
  readonly #waiting: (() => void)[] = [];
  #nextId = 1;
  #stopped = false;

  constructor(spec: FunctionSpec, log: LogSink) {
    this.spec = spec;
    this.#log = log;
  }

  async invoke(event: Json): Promise<Json> {
    const instance = await this.#takeInstance();
    try {
      return await this.#run(instance, event);
    } finally {
      instance.busy = false;
      this.#waiting.shift()?.();
    }
  }

  /** Kills every instance in the middle of whatever it does, as a crash would. Returns how many there were. */
  async kill(): Promise<number> {
    const instances = [...this.#instances];
    await Promise.all(instances.map((instance) => instance.worker.terminate()));
    return instances.length;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    for (const wake of this.#waiting.splice(0)) wake();
    await this.kill();
  }

  async #takeInstance(): Promise<Instance> {
    for (;;) {
      if (this.#stopped) throw new InvocationError(this.spec.name, 'Stopped', 'the run is ending');
      const idle = [...this.#instances].find((instance) => !instance.busy);
      const instance = idle ?? (this.#instances.size < INSTANCES_MAX ? this.#start() : null);
      if (instance !== null) {
        instance.busy = true;
        return instance;
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  #start(): Instance {
    const { name, arn, file, memoryMb, environment } = this.spec;
    const worker = new Worker(ENTRY, {
      env: { ...environment },
      workerData: { name, arn, file, memoryMb },
      execArgv: ['--enable-source-maps'],
      stdout: true,
      stderr: true,
    });
    const tooLong = setTimeout(() => void worker.terminate(), INIT_MS_MAX);
    let tellReady: () => void = () => {};
    const ready = new Promise<void>((resolve) => {
      tellReady = () => {
        clearTimeout(tooLong);
        resolve();
      };
    });
    const instance: Instance = { worker, ready, busy: false, settle: null };
    this.#instances.add(instance);
    for (const stream of [worker.stdout, worker.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => this.#log(name, text));
    }
    worker.on('message', (message: Reply | { readonly ready: true }) => {
      if ('ready' in message) tellReady();
      else instance.settle?.(message);
    });
    worker.on('error', (error) => this.#log(name, `${error.name}: ${error.message}\n`));
    worker.on('exit', () => {
      this.#instances.delete(instance);
      tellReady();
      instance.settle?.({ died: 'the instance ended' });
    });
    return instance;
  }

  async #run(instance: Instance, event: Json): Promise<Json> {
    const id = this.#nextId++;
    const { name, timeoutMs } = this.spec;
    await instance.ready;
    if (!this.#instances.has(instance)) {
      throw new InvocationError(name, 'Runtime.ExitError', 'the instance ended');
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        instance.settle?.({ died: `timed out after ${timeoutMs} ms` });
        void instance.worker.terminate();
      }, timeoutMs);
      instance.settle = (reply) => {
        if ('id' in reply && reply.id !== id) return;
        clearTimeout(timer);
        instance.settle = null;
        if ('died' in reply) {
          this.#instances.delete(instance);
          reject(new InvocationError(name, 'Runtime.ExitError', reply.died));
        } else if (reply.ok) resolve(reply.result ?? null);
        else reject(new InvocationError(name, reply.error?.name ?? 'Error', reply.error?.message ?? ''));
      };
      instance.worker.postMessage({
        id,
        event,
        requestId: randomUUID(),
        deadline: Date.now() + timeoutMs,
      });
    });
  }
}

/** The function behind a reference of the template. */
export function functionOf(
  template: Template,
  functions: ReadonlyMap<string, FunctionPool>,
  value: Json | undefined,
  where: string,
): FunctionPool {
  const { id } = template.target(value, where);
  return functions.get(id) ?? fail(where, `${id} is not a function`);
}
