import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Ready, type Started, startEverything } from '../../local/start.ts';
import { findLeaks } from '../support/canaries.ts';
import keepScratchInMemory from '../support/scratch-in-memory.cjs';
import { createSeededRandom } from '../support/seeded-random.ts';
import { type GeneratedRequest, generateRequest } from './generate.ts';
import { judgeAnswer, type SeenAnswer } from './judge.ts';
import type { Material } from './values.ts';

/** The long form: generated requests against the whole local service over HTTP. */
const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '100000' },
    seed: { type: 'string', default: '1' },
    /** Each request under way may begin one more thread of each function, and a new thread is slow for its first hundreds. */
    concurrency: { type: 'string', default: '4' },
    /** Of a service that runs already, started with `--rate-factor 1000`. */
    'ready-file': { type: 'string' },
  },
});

const FAULTS_SHOWN_MAX = 20;
const PROGRESS_EVERY = 2_000;
const WARM_UP_REQUESTS = 160;
const ANSWERS_PER_SCAN = 500;
const TICKETS_SCANNED_MAX = 30;
/** Calls that wait for an engine or a forge. */
const SLOW_SHARE = 0.02;

async function main(): Promise<number> {
  await keepScratchInMemory();
  const dataDir = mkdtempSync(join(tmpdir(), 'mergeyard-conformance-'));
  const readyFile = values['ready-file'];
  const started: Started | null =
    readyFile === undefined
      ? await startEverything({ port: 0, fresh: true, dataDir, context: { rateFactor: '1000' } })
      : null;
  try {
    const ready: Ready = started?.ready ?? JSON.parse(readFileSync(readyFile ?? '', 'utf8'));
    const files = ['service.log', 'table.sqlite', 'table.sqlite-wal'].map((name) =>
      join(dataDir, 'service', name),
    );
    const secret = (await started?.service.readSecret('EngineContainerSecret')) ?? null;
    return await run(ready, files, secret);
  } finally {
    await started?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** `files`: what the service logs and stores; `containerSecret`: null where it is not known. */
async function run(ready: Ready, files: readonly string[], containerSecret: string | null): Promise<number> {
  const random = createSeededRandom(Number(values.seed));
  const material = materialOf(ready);
  const agent = new Agent({ keepAlive: true, maxSockets: Number(values.concurrency) });
  let total = Number(values.requests);
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
  let overloads = 0;
  const work = async (): Promise<void> => {
    while (sent < total) {
      const nth = sent;
      sent += 1;
      const request = generateRequest(random, material, { slowShare: SLOW_SHARE });
      let answer = await insist(() => exchange(ready.base_url, agent, request));
      for (let tried = 0; tried < 5 && isOverload(answer); tried += 1) {
        overloads += 1;
        await new Promise((done) => setTimeout(done, 500));
        answer = await insist(() => exchange(ready.base_url, agent, request));
      }
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      const fault = judgeAnswer(request, answer);
      if (fault !== null) {
        faults.push(describe(nth, request, answer, fault));
        process.stderr.write(`${faults.at(-1)}\n`);
      }
      learn(material, request.path, answer.text);
      const ticket = /^\{"ticket":"([0-9a-f]{64})"/.exec(answer.text)?.[1];
      if (ticket !== undefined) tickets.push(ticket);
      else answers.push(answer.text);
      if (answers.length >= ANSWERS_PER_SCAN)
        leaks.push(...findLeaks(secrets, [answers.splice(0).join('\n')]));
      if ((nth + 1) % PROGRESS_EVERY === 0) {
        const seconds = (performance.now() - startedAt) / 1000;
        process.stderr.write(`${nth + 1} requests in ${seconds.toFixed(0)} s, ${faults.length} faults\n`);
      }
    }
  };
  await Promise.all(Array.from({ length: Number(values.concurrency) }, work));
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
  process.stdout.write(
    `${sent} requests in ${seconds.toFixed(0)} s (${Math.round(sent / seconds)}/s), seed ${values.seed}: ` +
      `${faults.length} faults, ${leaks.length} secrets in answers, log and table, ` +
      `${overloads} repeated because this machine was too busy for the provider's time limit\n` +
      `${[...statuses]
        .sort(([a], [b]) => a - b)
        .map(([status, count]) => `${status}: ${count}`)
        .join(', ')}\n`,
  );
  for (const fault of [...faults.slice(0, FAULTS_SHOWN_MAX), ...leaks]) process.stdout.write(`${fault}\n`);
  return faults.length + leaks.length === 0 ? 0 : 1;
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
    ...{ connectionIds: [], repoIds: [] },
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

function learn(material: Material, path: string, text: string): void {
  const id = /^\{"(?:rotated":true,")?id":"([0-9a-f-]{36})"/.exec(text)?.[1];
  if (id === undefined || path === '/api/v1/me') return;
  const ids = path.startsWith('/api/v1/connections') ? material.connectionIds : material.repoIds;
  if (!ids.includes(id)) ids.push(id);
}

/** The identity provider shares this process: a machine that is too busy makes it late. What stays so is a fault. */
function isOverload({ status, text }: SeenAnswer): boolean {
  return status === 503 && (text.includes('"auth_unavailable"') || text.includes('"dependency":"gotrue"'));
}

/** A kept connection that the server closed just then has carried nothing; only that is tried again. */
async function insist(send: () => Promise<SeenAnswer>): Promise<SeenAnswer> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await send();
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      if (tried === 3 || (code !== 'ECONNRESET' && code !== 'EPIPE')) throw error;
    }
  }
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

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exit(1);
  },
);
