import { existsSync, readFileSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';
import type { Ready } from '../../local/start.ts';
import { findLeaks } from '../support/canaries.ts';
import { createSeededRandom } from '../support/seeded-random.ts';
import { type GeneratedRequest, generateRequest } from './generate.ts';
import { judgeAnswer, type SeenAnswer } from './judge.ts';
import { learn } from './learn.ts';
import { createPatience, insist } from './patience.ts';
import type { Material } from './values.ts';

const WARM_UP_REQUESTS = 160;
const PROGRESS_EVERY = 1_000;
const ANSWERS_PER_SCAN = 500;
const TICKETS_SCANNED_MAX = 30;
/** Calls that wait for an engine or a forge. */
const SLOW_SHARE = 0.02;

export interface HttpRunOptions {
  readonly seed: number;
  readonly requests: number;
  /** Requests under way at once. */
  readonly concurrency: number;
  readonly ready: Ready;
  /** Files of the service's logs and storage; those that do not exist are left out. */
  readonly files: readonly string[];
  /** Null where it is not known. */
  readonly containerSecret: string | null;
}

export interface HttpRunResult {
  readonly sent: number;
  readonly seconds: number;
  readonly faults: readonly string[];
  readonly leaks: readonly string[];
  readonly statuses: ReadonlyMap<number, number>;
  /** Requests sent again: the provider of sessions was late, or the engine slept. */
  readonly repeated: number;
}

/** Generated requests over HTTP to a whole service that runs. */
export async function runOverHttp(options: HttpRunOptions): Promise<HttpRunResult> {
  const { ready, containerSecret, files, concurrency } = options;
  const random = createSeededRandom(options.seed);
  const material = materialOf(ready);
  const agent = new Agent({ keepAlive: true, maxSockets: concurrency });
  let total = options.requests;
  // Asked to end, it tells what it has seen so far.
  process.once('SIGTERM', () => {
    total = 0;
  });
  const faults: string[] = [];
  const statuses = new Map<number, number>();
  await warmUp(ready, agent, material);
  const startedAt = performance.now();
  const secrets = canariesOf(ready, containerSecret, []);
  const answers: string[] = [];
  const tickets: string[] = [];
  const leaks: string[] = [];
  let sent = 0;
  const patience = createPatience();
  const work = async (): Promise<void> => {
    while (sent < total) {
      const nth = sent;
      sent += 1;
      const request = generateRequest(random, material, { slowShare: SLOW_SHARE });
      const answer = await patience.ask(() => exchange(ready.base_url, agent, request));
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      const fault = judgeAnswer(request, answer);
      if (fault !== null) {
        faults.push(describe(nth, request, answer, fault));
        process.stderr.write(`${faults.at(-1)}\n`);
      }
      const { secrets: shown } = learn(material, request, answer);
      if (shown.length > 0) tickets.push(...shown);
      else answers.push(answer.text);
      if (answers.length >= ANSWERS_PER_SCAN)
        leaks.push(...findLeaks(secrets, [answers.splice(0).join('\n')]));
      if ((nth + 1) % PROGRESS_EVERY === 0) {
        const seconds = (performance.now() - startedAt) / 1000;
        process.stderr.write(`${nth + 1} requests in ${seconds.toFixed(0)} s, ${faults.length} faults\n`);
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  agent.destroy();
  const seconds = (performance.now() - startedAt) / 1000;
  const kept = files.filter((file) => existsSync(file));
  leaks.push(...findLeaks(secrets, [answers.join('\n')]));
  for (const file of kept) {
    // The table holds the secret with which deliveries are verified; nothing else may.
    const isTable = file.includes('table.sqlite');
    const wanted = canariesOf(ready, containerSecret, tickets).filter(
      ({ name }) => !isTable || name !== 'webhook secret',
    );
    leaks.push(...findLeaks(wanted, [readFileSync(file, 'latin1')]));
  }
  return { sent, seconds, faults, leaks, statuses, repeated: patience.repeated };
}

/** Every function is begun before anything is judged: on a busy machine that alone outlasts the provider's time limit. */
async function warmUp(ready: Ready, agent: Agent, material: Material): Promise<void> {
  const random = createSeededRandom(0);
  const send = () => exchange(ready.base_url, agent, generateRequest(random, material, { slowShare: 0 }));
  for (let nth = 0; nth < WARM_UP_REQUESTS; nth += 4) {
    await Promise.all([insist(send), insist(send), insist(send), insist(send)]);
  }
}

function materialOf(ready: Ready): Material {
  return {
    tokens: [...ready.tenants.map((tenant) => tenant.token), ready.admin_token],
    adminKey: ready.admin_key,
    instanceUrls: [ready.forge_url, `${ready.forge_url}/`],
    botLogins: ready.tenants.map((tenant) => tenant.forge_login),
    forgeTokens: ready.tenants.map((tenant) => tenant.forge_token),
    slugs: ['acme/app', 'beta/app', ...Array.from({ length: 20 }, (_, index) => `none/app${index}`)],
    // The tenants are needed to the end of the run.
    tenantIds: ['00000000-0000-4000-8000-000000000000'],
    connectionIds: [],
    repoIds: [],
    apiTokens: [],
    owners: new Map(),
    hook: {
      body: ready.webhook_example.body,
      signature: ready.webhook_example.headers['x-hub-signature-256'] ?? '',
    },
  };
}

function canariesOf(ready: Ready, containerSecret: string | null, tickets: readonly string[]) {
  return [
    ...ready.tenants.map(({ token }) => ({ name: 'session token', value: token })),
    ...ready.tenants.map(({ forge_token: value }) => ({ name: 'forge token', value })),
    { name: 'admin session token', value: ready.admin_token.slice(-43) },
    { name: 'admin key', value: ready.admin_key },
    { name: 'webhook secret', value: ready.webhook_example.secret },
    ...(containerSecret === null ? [] : [{ name: 'container secret', value: containerSecret }]),
    ...tickets.slice(0, TICKETS_SCANNED_MAX).map((value) => ({ name: 'ticket', value })),
  ].map(({ name, value }) => ({ name, value: name.includes('session') ? value.slice(-43) : value }));
}

function exchange(baseUrl: string, agent: Agent, request: GeneratedRequest): Promise<SeenAnswer> {
  const query = new URLSearchParams(request.query).toString();
  const url = `${baseUrl}${request.path}${query === '' ? '' : `?${query}`}`;
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      url,
      {
        method: request.method,
        agent,
        headers: {
          ...request.headers,
          ...(request.body === undefined ? {} : { 'content-length': Buffer.byteLength(request.body) }),
        },
      },
      (incoming) => {
        let text = '';
        incoming.setEncoding('utf8');
        incoming.on('data', (chunk: string) => {
          text += chunk;
        });
        incoming.on('end', () => {
          const contentType = incoming.headers['content-type'] ?? '';
          const { allow, 'retry-after': retryAfter } = incoming.headers;
          resolve({ status: incoming.statusCode ?? 0, contentType, text, allow, retryAfter });
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.end(request.body);
  });
}

function describe(nth: number, request: GeneratedRequest, answer: SeenAnswer, fault: string): string {
  return `#${nth} ${request.method} ${request.path.slice(0, 100)} ${(request.body ?? '').slice(0, 160)} -> ${answer.status} ${answer.text.slice(0, 160)}: ${fault}`;
}
