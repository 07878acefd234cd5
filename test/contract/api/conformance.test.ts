import * as z from 'zod';
import type { RouteSpec } from '#core/contracts/routes/route-spec.ts';
import { ROUTES } from '#core/contracts/routes/routes.ts';
import { matchRoute } from '../../conformance/generate.ts';
import { judgeAnswer } from '../../conformance/judge.ts';
import { createPatience } from '../../conformance/patience.ts';
import { runSession, scanWorld } from '../../conformance/session.ts';
import { ANSWER_KEYS, sampleOf, shapeOf } from '../../conformance/shapes.ts';
import { ADMIN_KEY, ApiWorld, CONTAINER_SECRET } from '../../support/api-world.ts';
import { findLeaks } from '../../support/canaries.ts';

const REQUESTS = 1_500;

describe('conformance, short form: nothing leaves that the contract does not list (A61, A62, A63, A76)', () => {
  test.each([1, 20_260_101])('seed %i', async (seed) => {
    const { faults, seen, leaks } = await runSession(seed, REQUESTS);
    expect(faults).toEqual([]);
    expect(leaks).toEqual([]);
    // A run that only ever hit refusals would prove little.
    expect([...seen.keys()].filter((key) => / 2\d\d$/.test(key)).length).toBeGreaterThan(20);
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });

  test('the same seed sends the same requests', async () => {
    const tally = async (seed: number) => [...(await runSession(seed, 150)).seen].sort();
    const once = await tally(7);
    expect(await tally(7)).toEqual(once);
    expect(await tally(8)).not.toEqual(once);
  });
});

describe('a passing fault is asked again before it is judged', () => {
  const asleep = '{"ok":false,"dependency":"container"}';
  const after = (count: number, text: string) => {
    let sent = 0;
    const patience = createPatience({ pause: async () => undefined });
    const send = async () => {
      sent += 1;
      const left = sent <= count;
      return { status: left ? 503 : 200, text: left ? text : '{"ok":true}', contentType: 'application/json' };
    };
    return patience.ask(send).then(({ status }) => ({ status, repeated: patience.repeated }));
  };

  test.each<[string, number, string, { readonly status: number; readonly repeated: number }]>([
    ['an engine that sleeps is waited for until it is up', 40, asleep, { status: 200, repeated: 40 }],
    ['an engine that stays away for a minute is a fault', 1_000, asleep, { status: 503, repeated: 120 }],
    ['a provider that is late', 3, '{"error":{"code":"auth_unavailable"}}', { status: 200, repeated: 3 }],
    [
      'the kept answer about a provider',
      40,
      '{"ok":false,"dependency":"gotrue"}',
      { status: 200, repeated: 40 },
    ],
    ['another 503 is judged as it is', 3, '{"error":{"code":"db_error"}}', { status: 503, repeated: 0 }],
  ])('%s', async (_name, count, text, expected) => {
    expect(await after(count, text)).toEqual(expected);
  });
});

describe('the judge itself', () => {
  const route = matchRoute('GET', '/api/v1/me');
  const json = 'application/json; charset=utf-8';
  test.each([
    [200, '{"id":"x"}', null],
    [200, '{"id":"x","token":"y"}', 'contract: body.token: not in the list'],
    [200, '{"id":5}', 'contract: body.id: not text'],
    [201, '{"id":"x"}', 'status 201 is not listed'],
    [401, '{"error":{"code":"missing_auth","message":"x"}}', '401 missing_auth is not listed'],
    [400, '{"error":{"code":"not_authenticated"}}', '400 not_authenticated is not listed'],
    [401, '{"error":{"code":"not_authenticated"},"more":1}', 'fields beside the envelope'],
    [503, '{"error":{"code":"auth_unavailable"}}', 'a fault of our own: auth_unavailable'],
    [500, 'oops', 'status 500 is not listed'],
  ])('%i %s', (status, text, fault) => {
    expect(judgeAnswer({ route }, { status, text, contentType: json })).toEqual(fault);
  });

  test('a field of the contract’s list that our schema does not name', () => {
    if (route === null) throw new Error('no route');
    const without = { ...route, replies: { 200: z.object({}) } };
    const answer = { status: 200, text: '{"id":"x"}', contentType: json };
    expect(judgeAnswer({ route: without }, answer)).toBe('fields beyond the schema');
  });

  test('a word about the connection of a stranger', () => {
    const text = '{"error":{"code":"connection_identity_already_used","owner":"x"}}';
    const told = { status: 409, text, contentType: json };
    expect(judgeAnswer({ route: matchRoute('POST', '/api/v1/connections') }, told)).toBe(
      'contract: error.owner: not in the list',
    );
  });

  test('a token that goes beyond its scope', () => {
    const answer = { status: 200, text: '{"id":"x"}', contentType: json };
    expect(judgeAnswer({ route, expected: 'forbidden' }, answer)).toContain('beyond its scope');
    expect(judgeAnswer({ route, expected: null }, answer)).toBeNull();
  });

  const patch = matchRoute('PATCH', '/api/v1/user/repos/x');
  const refusal = (field: string) => `{"error":{"code":"invalid_field","message":"x","field":"${field}"}}`;
  test.each([
    ['refused', 404, '{"error":{"code":"not_found","message":"x"}}', 'a wrong body was taken: 404 not_found'],
    ['refused', 400, refusal('batch_target'), null],
    ['accepted', 400, refusal('batch_target'), 'a right body was refused: invalid_field batch_target'],
    ['accepted', 404, '{"error":{"code":"not_found","message":"x"}}', null],
    [
      'unauthenticated',
      404,
      '{"error":{"code":"not_found","message":"x"}}',
      'no credential, but 404 not_found',
    ],
    [null, 400, '{"error":{"code":"invalid_field","message":"x"}}', 'contract: error.field: absent'],
  ] as const)('expected %s, and %i came', (expected, status, text, fault) => {
    expect(judgeAnswer({ route: patch, expected }, { status, text, contentType: json })).toBe(fault);
  });

  interface Renaming {
    readonly path: string;
    readonly body: unknown;
  }
  /** A value once for each field in it, with that field under another name. */
  function rename(value: unknown, path = ''): Renaming[] {
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value).flatMap(([name, field]) => {
      const here = `${path}.${name}`;
      const isItem = Array.isArray(value);
      const others = Object.fromEntries(Object.entries(value).filter(([each]) => each !== name));
      const own = isItem ? [] : [{ path: here, body: { ...others, [`${name}_renamed`]: field } }];
      const inside = rename(field, isItem ? path : here).map((each) => ({
        path: each.path,
        body: isItem ? [each.body] : { ...others, [name]: each.body },
      }));
      return [...own, ...inside];
    });
  }
  /** The versions of keys are no names. */
  const FREE = /\.credential_keks\.1$/;

  test.each(ANSWER_KEYS.filter((key) => !key.endsWith(' 503')))(
    '%s: a field under another name, or one more, is told, whatever our own schemas say',
    (key) => {
      const [method = '', path = '', status = ''] = key.split(' ');
      const known = matchRoute(method, path.replace('<id>', 'x'));
      if (known === null) throw new Error(`no route ${key}`);
      const lax = { ...known, replies: { ...known.replies, [status]: z.any() } };
      const judge = (body: unknown) =>
        judgeAnswer(
          { route: lax },
          { status: Number(status), text: JSON.stringify(body), contentType: json },
        );
      const sample = sampleOf(shapeOf(key) ?? '');
      expect(judge(sample)).toBeNull();
      const renamed = rename(sample).filter((each) => !FREE.test(each.path));
      expect(renamed.length).toBeGreaterThan(0);
      expect(renamed.filter(({ body }) => judge(body) === null).map((each) => each.path)).toEqual([]);
      const added = Array.isArray(sample)
        ? [{ ...sample[0], unlisted: 'x' }]
        : { ...(sample as object), unlisted: 'x' };
      expect(judge(added)).toMatch(/unlisted: not in the list$/);
    },
  );

  test('every answer with a body has its fields in the contract’s list', () => {
    const told = ROUTES.flatMap((each: RouteSpec) =>
      Object.entries(each.replies).flatMap(([status, shape]) =>
        shape === null || 'mediaType' in shape
          ? []
          : [`${each.method} ${each.path.replaceAll(/\{(\w+)\}/g, '<$1>')} ${status}`],
      ),
    );
    expect([...ANSWER_KEYS].sort()).toEqual(told.sort());
  });

  test('an unhealthy answer of a healthy run', () => {
    const answer = { status: 503, text: '{"ok":false,"dependency":"x"}', contentType: json };
    expect(judgeAnswer({ route: matchRoute('GET', '/api/healthz') }, answer)).toContain('unhealthy');
  });

  test('an answer where there is no route', () => {
    const answer = { status: 200, text: '{}', contentType: json };
    expect(judgeAnswer({ route: null, method: 'GET', path: '/x' }, answer)).toContain('unknown route');
  });

  test.each([
    ['/x', 404, undefined, null],
    ['/x', 405, 'GET', 'unknown route'],
    ['/api/v1/me', 405, 'GET', null],
    ['/api/v1/me', 405, undefined, 'unknown route'],
    ['/api/v1/me', 404, undefined, 'unknown route'],
    ['/api/v1/connections/1', 405, 'DELETE, PATCH', null],
    ['/api/v1/connections/1', 405, 'PATCH', 'unknown route'],
    ['/api/v1/forge/repos', 404, undefined, null],
  ])('an unlisted method of %s: %i %s', (path, status, allow, fault) => {
    const code = status === 404 ? 'not_found' : 'method_not_allowed';
    const text = `{"error":{"code":"${code}"}}`;
    const said = judgeAnswer(
      { route: null, method: 'PUT', path },
      { status, text, contentType: json, allow },
    );
    expect(said).toEqual(fault === null ? null : expect.stringContaining(fault));
  });
});

describe('the scan of a run', () => {
  const ticket = '0123456789abcdef'.repeat(4);
  const plant: Readonly<Record<string, (world: ApiWorld) => unknown>> = {
    'ticket as a piece': (world) => world.lines.push(`socket opened with ${ticket}`),
    'ticket as base64': (world) => world.lines.push(Buffer.from(ticket).toString('base64')),
    'ticket in another answer': (world) => world.answers.push(`"${ticket}"`),
    'container secret as hex': (world) => world.lines.push(Buffer.from(CONTAINER_SECRET).toString('hex')),
    'container secret as URL form': (world) =>
      world.answers.push(encodeURIComponent(`${CONTAINER_SECRET}/`).replaceAll('-', '%2d')),
    'admin key as a piece': (world) => world.answers.push(ADMIN_KEY),
  };
  test.each(Object.entries(plant))('finds a planted %s', async (name, leak) => {
    const world = new ApiWorld();
    world.answers.push(`{"ticket":"${ticket}","expires_in":30}`);
    expect(scanWorld(world, [ticket])).toEqual([]);
    leak(world);
    const found = scanWorld(world, [ticket]);
    expect(found).toHaveLength(1);
    expect(found[0]?.split(' as ')[0]).toBe(name.split(' as ')[0]);
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
