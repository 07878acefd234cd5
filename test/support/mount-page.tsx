import { QueryClientProvider } from '@tanstack/react-query';
import { cleanup, configure, render } from '@testing-library/react';
import type { DashboardConfig } from '../../core/contracts/internal/dashboard.ts';
import { ROUTES } from '../../core/contracts/routes/routes.ts';
import { App } from '../../dashboard/app.tsx';
import { createService } from '../../dashboard/data/api.ts';
import { ServiceContext } from '../../dashboard/data/hooks.ts';
import { setSession } from '../../dashboard/data/session.ts';

// Hidden elements are found too: to compute visibility takes most of the time of a search by role. A busy machine is waited for.
configure({ defaultHidden: true, asyncUtilTimeout: 20_000 });

/** The requests that the page sent. */
export interface Sent {
  readonly address: string;
  readonly body: unknown;
}

export interface MountOptions {
  /** Path and query that the browser shows. */
  readonly at: string;
  /** Answers by `GET /path`; anything else is 404 `not_found`. A number is a status with an empty body, a function answers by the body. */
  readonly answers?: Readonly<Record<string, unknown>>;
  readonly config?: Partial<DashboardConfig>;
  /** @default a session of a tenant; null: signed out */
  readonly session?: Parameters<typeof setSession>[0];
}

export const CONFIG: DashboardConfig = {
  sign_in: { kind: 'gotrue', url: 'https://id.example.org', api_key: 'public' },
  sign_up: 'closed',
  sends_mail: true,
};

const SESSION = {
  token: 'token',
  refreshToken: 'refresh',
  expiresAt: Date.now() + 3_600_000,
  email: 'ada@example.org',
  isAdmin: false,
};

const NOT_FOUND = { error: { code: 'not_found', message: 'Not found.', retryable: false } };

/** Fields of requests that the service takes no notice of: what a person typed there would be lost without a word. */
const unknownFields: string[] = [];
afterEach(() => expect(unknownFields.splice(0)).toEqual([]));

/** A route and the names of the fields that its body may have. */
const BODIES = ROUTES.flatMap((route) => {
  if (!('body' in route)) return [];
  const { method, path, body } = route;
  const pattern = new RegExp(`^${method} ${path.replace(/\{\w+\}/g, '[^/?]+')}$`);
  return [{ pattern, names: namesOf(body) }];
});

function namesOf(schema: object): readonly string[] {
  if ('unwrap' in schema && typeof schema.unwrap === 'function') return namesOf(schema.unwrap());
  return 'shape' in schema && typeof schema.shape === 'object' ? Object.keys(schema.shape ?? {}) : [];
}

function noteUnknownFields(address: string, body: unknown): void {
  const names = BODIES.find(({ pattern }) => pattern.test(address))?.names;
  if (names === undefined || typeof body !== 'object' || body === null) return;
  const unknown = Object.keys(body).filter((name) => !names.includes(name));
  unknownFields.push(...unknown.map((name) => `${address}: ${name}`));
}

/** The whole page at an address, with the service played by a table of answers. */
export function mountPage({ at, answers = {}, config = {}, session = SESSION }: MountOptions) {
  cleanup();
  const sent: Sent[] = [];
  history.replaceState(null, '', at);
  setSession(session);
  window.scrollTo = () => undefined;
  globalThis.fetch = (async (input: string, init: RequestInit = {}) => {
    const address = `${init.method ?? 'GET'} ${input}`;
    const { body } = init;
    const given = typeof body === 'string' ? readBody(body) : body;
    sent.push({ address, body: given });
    noteUnknownFields(address, given);
    const known = address in answers ? answers[address] : answers[address.replace(/\?.*$/, '')];
    return reply(typeof known === 'function' ? known(given) : known);
  }) as typeof fetch;
  const service = createService({ ...CONFIG, ...config });
  const page = render(
    <ServiceContext value={service}>
      <QueryClientProvider client={service.queries}>
        <App />
      </QueryClientProvider>
    </ServiceContext>,
  );
  return { ...page, sent };
}

/** An answer that is an error with a body. */
export class Refusal {
  constructor(
    readonly status: number,
    readonly body: unknown,
  ) {}
}

function reply(known: unknown) {
  if (known instanceof Refusal) return answer(known.status, JSON.stringify(known.body));
  const status = known === undefined ? 404 : typeof known === 'number' ? known : 200;
  return answer(status, typeof known === 'number' ? '' : JSON.stringify(known ?? NOT_FOUND));
}

function answer(status: number, text: string) {
  return {
    ok: status < 400,
    status,
    headers: new Headers({ 'content-type': 'application/json' }),
    text: async () => text,
    json: async () => JSON.parse(text),
  };
}

function readBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return Object.fromEntries(new URLSearchParams(text));
  }
}
