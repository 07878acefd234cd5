import { generateKeyPairSync, sign } from 'node:crypto';
import { ForgeError } from '#core/ports/forge.ts';
import type { Signer } from '#core/ports/signer.ts';
import { ADMIN_KEY, ApiWorld, CONTAINER_SECRET, HOOK_SECRET } from '../support/api-world.ts';
import { type Canary, findLeaks } from '../support/canaries.ts';
import { giveHistory } from '../support/given-history.ts';
import { BOT } from '../support/scripted-accounts.ts';
import { createSeededRandom, type SeededRandom } from '../support/seeded-random.ts';
import { anyPerson } from './any-person.ts';
import { type GeneratedRequest, generateRequest } from './generate.ts';
import { judgeAnswer } from './judge.ts';
import { learn } from './learn.ts';
import { type Material, makeUuid } from './values.ts';

export interface SessionResult {
  readonly sent: number;
  /** One line each: what was sent, what came, what is wrong with it. */
  readonly faults: readonly string[];
  /** How often each route answered each status. */
  readonly seen: ReadonlyMap<string, number>;
  readonly leaks: readonly string[];
}

const TENANTS = ['a', 'b', 'c', 'd'].map((letter) => ({
  id: `${letter.repeat(8)}-0000-4000-8000-000000000000`,
  token: `canary.fuzz.session.${letter}-77d1c0`,
}));
const ADMIN = { id: 'eeeeeeee-0000-4000-8000-000000000000', token: 'canary.fuzz.session.admin-90ab' };
const FORGE_TOKENS = ['canary-sent-token-0001', 'canary-sent-token-0002'];
const CANARIES: readonly Canary[] = [
  ...FORGE_TOKENS.map((value) => ({ name: 'forge token', value })),
  ...[...TENANTS, ADMIN].map(({ token: value }) => ({ name: 'session token', value })),
  { name: 'admin key', value: ADMIN_KEY },
  { name: 'webhook secret', value: HOOK_SECRET },
  { name: 'container secret', value: CONTAINER_SECRET },
];
const KEY = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const SIGNER: Signer = {
  readPublicKey: async () => ({ pem: KEY.publicKey.export({ type: 'spki', format: 'pem' }).toString() }),
  sign: async (bytes) => sign('sha256', bytes, KEY.privateKey),
};
/** Tickets and API tokens that are looked for in each world. */
const TICKETS_SCANNED_MAX = 10;

/**
 * Secrets of a run in what it answered, logged and stored. A ticket or an API token is answered once, to whom it is for,
 * and is nowhere else.
 */
export function scanWorld(world: ApiWorld, tickets: readonly string[]): readonly string[] {
  const answers = world.answers.join('\n');
  const kept = [world.lines.join('\n'), world.store.dump()];
  const issued = tickets.slice(0, TICKETS_SCANNED_MAX);
  const repeated = issued.filter((ticket) => answers.split(ticket).length !== 2);
  return [
    ...findLeaks(CANARIES, [answers, ...kept]),
    ...findLeaks(
      issued.map((value) => ({ name: 'ticket', value })),
      kept,
    ),
    ...repeated.map(() => 'ticket in another answer'),
  ];
}

/** A world is left after this many requests: what they stored makes later ones slower, not harder. */
const REQUESTS_PER_WORLD = 2_500;
/** Answers that refuse are compared with the store before and after, one in so many. */
const UNCHANGED_EVERY = 8;

/** Sends generated requests through the routers of this process. The same seed sends the same requests. */
export async function runSession(
  seed: number,
  requests: number,
  onWorld: (sent: number, faults: number) => void = () => {},
): Promise<SessionResult> {
  const faults: string[] = [];
  const leaks: string[] = [];
  const seen = new Map<string, number>();
  for (let sent = 0, nth = 0; sent < requests; sent += REQUESTS_PER_WORLD, nth += 1) {
    const random = createSeededRandom(seed * 1_000_003 + nth);
    const world = await WorldRun.open(random);
    for (let at = 0; at < Math.min(REQUESTS_PER_WORLD, requests - sent); at += 1) {
      const fault = await world.step(seen);
      if (fault !== null) faults.push(`seed ${seed} world ${nth} request ${at}: ${fault}`);
    }
    leaks.push(...world.scan());
    onWorld(Math.min(sent + REQUESTS_PER_WORLD, requests), faults.length);
  }
  return { sent: requests, faults, seen, leaks };
}

class WorldRun {
  readonly #random: SeededRandom;
  readonly #world = new ApiWorld();
  #material: Material;
  readonly #gone = new Set<string>();
  readonly #tickets: string[] = [];

  private constructor(random: SeededRandom, material: Material) {
    this.#random = random;
    this.#material = material;
  }

  static async open(random: SeededRandom): Promise<WorldRun> {
    const run = new WorldRun(random, {
      tokens: [...TENANTS, ADMIN].map(({ token }) => token),
      tenantIds: TENANTS.map(({ id }) => id),
      adminKey: ADMIN_KEY,
      instanceUrls: [
        'https://git.example.org',
        'HTTPS://GIT.example.org:443/',
        'https://two.example.org/forge',
        ...Array.from({ length: 40 }, (_, index) => `https://git${index}.example.org`),
      ],
      botLogins: [BOT, BOT, 'other-bot'],
      forgeTokens: FORGE_TOKENS,
      slugs: [
        'acme/one',
        'acme/two',
        'Acme/Two',
        'x/y.z-1_',
        ...Array.from({ length: 20 }, (_, index) => `beta/app${index}`),
      ],
      connectionIds: [],
      repoIds: [],
      apiTokens: [],
      owners: new Map(),
      hook: null,
    });
    await run.#furnish();
    return run;
  }

  async #furnish(): Promise<void> {
    const world = this.#world;
    world.rateFactor = 1_000;
    world.signer = SIGNER;
    world.identity.signIn(ADMIN.token, ADMIN.id, true);
    for (const { id, token } of TENANTS) {
      world.identity.signIn(token, id);
      if (this.#random.chance(0.75)) await world.store.savePlan(id, { tier: 'team', status: 'active' });
      const { repo, connection } = await world.enroll(id, { slug: `seed/${id}`, wakeupMode: 'webhook' });
      await giveHistory(world, repo, () => makeUuid(this.#random));
      this.#material.repoIds.push(repo.id);
      this.#material.connectionIds.push(connection.id);
      for (const row of [repo.id, connection.id]) this.#material.owners.set(row, `Bearer ${token}`);
      const body = JSON.stringify({
        repository: { full_name: repo.slug, html_url: `${repo.instanceUrl}/${repo.slug}` },
        sender: { login: 'dev' },
      });
      this.#material = { ...this.#material, hook: { body, signature: world.signHook(body) } };
    }
  }

  /** One request. Null when its answer is as the contract wants it. */
  async step(seen: Map<string, number>): Promise<string | null> {
    const random = this.#random;
    const world = this.#world;
    world.engine = random.chance(0.8)
      ? { answer: 'ok', logTail: ['looked'] }
      : { answer: 'failed', logTail: [] };
    world.openPerson = () => anyPerson(random);
    world.forge.repos = random.chance(0.5) ? [] : new ForgeError('denied', 'x', 403);
    await world.clock.advance(50);
    const request = generateRequest(random, this.#material);
    const before = random.int(UNCHANGED_EVERY) === 0 ? await this.#readSettings() : null;
    const { method, path, query, headers, body } = request;
    const answer = await world.call(method, path, {
      query,
      headers,
      ...(body === undefined ? {} : { body }),
    });
    const key = `${request.route?.id ?? 'none'} ${answer.status}`;
    seen.set(key, (seen.get(key) ?? 0) + 1);
    const contentType = answer.headers['content-type'] ?? '';
    const fault =
      judgeAnswer(request, {
        ...answer,
        contentType,
        allow: answer.headers.allow,
        retryAfter: answer.headers['retry-after'],
      }) ??
      this.#judgeState(request, answer.status, answer.text) ??
      (before !== null &&
      answer.status >= 400 &&
      answer.status < 500 &&
      before !== (await this.#readSettings())
        ? 'a refusal changed something'
        : null);
    if (fault === null) return null;
    return `${method} ${path.slice(0, 80)} ${(body ?? '').slice(0, 300)} -> ${answer.status} ${answer.text.slice(0, 200)}: ${fault}`;
  }

  scan(): readonly string[] {
    return scanWorld(this.#world, this.#tickets);
  }

  /** The state that a refusal must not change (A65). */
  async #readSettings(): Promise<string> {
    const { store } = this.#world;
    const all = await Promise.all(
      TENANTS.map(async ({ id }) => {
        const [connections, repos] = await Promise.all([store.listConnections(id), store.listRepos(id)]);
        return [connections, repos.map(({ wakeSeq: _seq, dueAt: _due, ...settings }) => settings)];
      }),
    );
    return JSON.stringify(all);
  }

  /** Learns new ids; what was deleted must stay so for every caller. */
  #judgeState(request: GeneratedRequest, status: number, text: string): string | null {
    const { path, route } = request;
    const id = /^\/api\/v1\/(?:connections|user\/repos)\/([0-9a-f-]{36})/.exec(path)?.[1];
    if (id !== undefined && this.#gone.has(id) && status < 400) return 'deleted, and still there';
    if (id !== undefined && status === 204 && route?.id === 'deleteRepo') this.#gone.add(id);
    if (id !== undefined && status === 204 && route?.id === 'deleteConnection') this.#gone.add(id);
    this.#tickets.push(...learn(this.#material, request, { status, text }).secrets);
    return null;
  }
}
