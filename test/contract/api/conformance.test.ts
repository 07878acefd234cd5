import { ForgeError } from '#core/ports/forge.ts';
import { generateRequest, type Material, matchRoute } from '../../conformance/generate.ts';
import { judgeAnswer } from '../../conformance/judge.ts';
import {
  ADMIN_KEY,
  ApiWorld,
  BOT,
  TENANT_A,
  TENANT_B,
  TOKEN_A,
  TOKEN_ADMIN,
  TOKEN_B,
} from '../../support/api-world.ts';
import { type Canary, findLeaks } from '../../support/canaries.ts';
import { createSeededRandom } from '../../support/seeded-random.ts';

const REQUESTS = 6_000;

async function openWorld(): Promise<{ readonly world: ApiWorld; readonly material: Material }> {
  const world = new ApiWorld();
  world.rateFactor = 1_000;
  const material: Material = {
    ...{
      tokens: [TOKEN_A, TOKEN_A, TOKEN_B, TOKEN_ADMIN],
      adminKey: ADMIN_KEY,
      connectionIds: [],
      repoIds: [],
    },
    instanceUrls: ['https://git.example.org', 'https://two.example.org/forge'],
    botLogins: [BOT, BOT, 'other-bot'],
    forgeTokens: ['canary-sent-token-0001', 'canary-sent-token-0002'],
    slugs: ['acme/one', 'acme/two', 'acme/three', 'beta/one'],
  };
  for (const tenantId of [TENANT_A, TENANT_B]) {
    await world.store.savePlan(tenantId, { tier: 'team', status: 'active' });
    const { repo, connection } = await world.enroll(tenantId, { slug: `seed/${tenantId}` });
    material.repoIds.push(repo.id);
    material.connectionIds.push(connection.id);
  }
  return { world, material };
}

/** What the store and the answers taught: later requests name what exists. */
function learn(material: Material, path: string, json: unknown): void {
  if (typeof json !== 'object' || json === null || !('id' in json) || typeof json.id !== 'string') return;
  const ids = path.startsWith('/api/v1/connections') ? material.connectionIds : material.repoIds;
  if (!path.includes('/me') && !ids.includes(json.id)) ids.push(json.id);
}

describe('conformance, short form: nothing leaves that the contract does not list (A62, A63)', () => {
  test.each([1, 20_260_101])('seed %i', async (seed) => {
    const { world, material } = await openWorld();
    const random = createSeededRandom(seed);
    const wrong: string[] = [];
    const seen = new Map<string, number>();
    for (let nth = 0; nth < REQUESTS / 2; nth += 1) {
      world.engine = random.chance(0.8)
        ? { answer: 'ok', logTail: ['looked'] }
        : { answer: 'failed', logTail: [] };
      world.forge.repos = random.chance(0.5) ? [] : new ForgeError('denied', 'x', 403);
      await world.clock.advance(50);
      const request = generateRequest(random, material);
      const { method, path, query, headers, body } = request;
      const answer = await world.call(method, path, {
        query,
        headers,
        ...(body === undefined ? {} : { body }),
      });
      const fault = judgeAnswer(request.route, {
        ...answer,
        contentType: answer.headers['content-type'] ?? '',
      });
      if (fault !== null)
        wrong.push(`#${nth} ${method} ${path.slice(0, 80)} ${body?.slice(0, 200)}: ${fault}`);
      const key = `${request.route?.id ?? 'none'} ${answer.status}`;
      seen.set(key, (seen.get(key) ?? 0) + 1);
      learn(material, path, answer.json);
    }
    expect(wrong).toEqual([]);
    // A run that only ever hit refusals would prove little.
    expect([...seen.keys()].filter((key) => / 2\d\d$/.test(key)).length).toBeGreaterThan(20);
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
    expect(findLeaks(CANARIES, [...world.answers, ...world.lines, world.store.dump()])).toEqual([]);
  });
});

const CANARIES: readonly Canary[] = [
  ...['canary-sent-token-0001', 'canary-sent-token-0002', 'canary-forge-token-b81c55e0'].map((value) => ({
    ...{ name: 'forge token', value },
  })),
  { name: 'admin key', value: ADMIN_KEY },
  { name: 'session token', value: TOKEN_A },
];

describe('the judge itself', () => {
  const route = matchRoute('GET', '/api/v1/me');
  const json = 'application/json; charset=utf-8';
  test.each([
    [200, '{"id":"x"}', null],
    [200, '{"id":"x","token":"y"}', 'fields beyond the schema'],
    [200, '{"id":5}', expect.stringContaining('schema')],
    [201, '{"id":"x"}', 'status 201 is not listed'],
    [401, '{"error":{"code":"missing_auth","message":"x"}}', 'code missing_auth is not listed'],
    [400, '{"error":{"code":"not_authenticated"}}', 'code not_authenticated with status 400'],
    [401, '{"error":{"code":"not_authenticated"},"more":1}', 'fields beside the envelope'],
    [503, '{"error":{"code":"auth_unavailable"}}', 'a fault of our own: auth_unavailable'],
    [500, 'oops', 'status 500 is not listed'],
  ])('%i %s', (status, text, fault) => {
    expect(judgeAnswer(route, { status, text, contentType: json })).toEqual(fault);
  });

  test('an answer where there is no route', () => {
    const answer = { status: 200, text: '{}', contentType: json };
    expect(judgeAnswer(null, answer)).toContain('unknown route');
  });
});

describe('the scanner itself', () => {
  test.each([
    ['plain', (text: string) => text],
    ['base64', (text: string) => Buffer.from(text).toString('base64')],
    ['base64 inside a longer text', (text: string) => Buffer.from(`xy${text}z`).toString('base64')],
    ['base64url', (text: string) => Buffer.from(text).toString('base64url')],
    ['hex', (text: string) => Buffer.from(text).toString('hex')],
    ['URL form', (text: string) => [...text].map((char) => `%${char.charCodeAt(0).toString(16)}`).join('')],
    ['a piece of it', (text: string) => text.slice(5, 17)],
    ['as JSON', (text: string) => JSON.stringify({ text })],
  ])('finds a planted leak: %s', (_form, encode) => {
    const canary = { name: 'planted', value: 'canary-planted-9c41ffb2-token' };
    expect(findLeaks([canary], ['nothing here', `before ${encode(canary.value)} after`])).toHaveLength(1);
    expect(findLeaks([canary], ['nothing here', 'canary-pl'])).toEqual([]);
  });
});
