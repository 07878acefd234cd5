import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  BOT,
  createFakeForge,
  type FakeForge,
  type FakeForgeOptions,
  PERSON_SCOPES,
} from '../../../local/forge/fake-forge.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

export interface Answer {
  readonly status: number;
  /** Parsed JSON, or the text where it is none. */
  // biome-ignore lint/suspicious/noExplicitAny: answers are probed field by field.
  readonly body: any;
  readonly headers: Headers;
}

export interface Bench {
  readonly forge: FakeForge;
  readonly clock: VirtualClock;
  readonly httpUrl: string;
  readonly httpsUrl: string;
  readonly caFile: string;
  readonly dataDir: string;
  readonly token: string;
  /** Path below `/api/v1/repos/acme/app`, or from the root when it starts with `/api`. */
  api(method: string, path: string, body?: unknown, token?: string | null): Promise<Answer>;
  tokenOf(login: string): string;
  close(): Promise<void>;
}

export async function startBench(options: Partial<FakeForgeOptions> = {}): Promise<Bench> {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'fake-forge-'));
  const clock = new VirtualClock();
  const forge = createFakeForge({
    timers: clock,
    onError: (error) => {
      throw error;
    },
    ...options,
    dataDir,
  });
  const { httpUrl, httpsUrl, caFile } = await forge.start();
  const tokenOf = (login: string): string => forge.addToken(login, [...PERSON_SCOPES]);
  const token = tokenOf(BOT);
  return {
    forge,
    clock,
    httpUrl,
    httpsUrl,
    caFile,
    dataDir,
    token,
    tokenOf,
    api: async (method, path, body, as = token) => {
      const url = httpUrl + (path.startsWith('/api') ? path : `/api/v1/repos/acme/app${path}`);
      const response = await fetch(url, {
        method,
        headers: {
          ...(as === null ? {} : { Authorization: `token ${as}` }),
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      let parsed: unknown = text;
      try {
        parsed = text === '' ? null : JSON.parse(text);
      } catch {
        // Not JSON: the text stands.
      }
      return { status: response.status, body: parsed, headers: response.headers };
    },
    close: async () => {
      await forge.stop();
      if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Lets everything that is due happen, at the present virtual instant. */
export async function quiet(bench: Bench): Promise<void> {
  await bench.clock.advance(0);
  await bench.forge.settle();
}
