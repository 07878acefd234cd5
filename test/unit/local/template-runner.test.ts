import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHttpFront } from '../../../core/adapters/http-server/http-front.ts';
import type { Json } from '../../../core/ports/invocable.ts';
import { FunctionPool } from '../../../local/template-runner/function-pool.ts';
import { Resolver } from '../../../local/template-runner/resolver.ts';
import { parseEveryMinutes } from '../../../local/template-runner/schedules.ts';
import { Template } from '../../../local/template-runner/template.ts';

describe('resolver', () => {
  const template = new Template({ Resources: { Table: { Type: 'AWS::DynamoDB::Table' } } });
  const resolver = new Resolver(template);
  resolver.define('Table', { ref: 'local-table', attributes: { Arn: 'arn:table' } });
  resolver.definePort(8080, 4321);

  test.each<[string, Json, Json]>([
    ['a plain value', { a: [1, 'x', null] }, { a: [1, 'x', null] }],
    ['Ref', { Ref: 'Table' }, 'local-table'],
    ['a pseudo parameter', { Ref: 'AWS::Region' }, 'us-east-1'],
    ['GetAtt as a list', { 'Fn::GetAtt': ['Table', 'Arn'] }, 'arn:table'],
    ['GetAtt as a text', { 'Fn::GetAtt': 'Table.Arn' }, 'arn:table'],
    ['Join', { 'Fn::Join': ['-', ['a', { Ref: 'Table' }]] }, 'a-local-table'],
    [
      'Sub',
      { 'Fn::Sub': `\${Table}/\${Table.Arn}/\${AWS::Partition}/\${!Kept}` },
      `local-table/arn:table/aws/\${Kept}`,
    ],
    ['Sub with own values', { 'Fn::Sub': [`\${X}`, { X: { Ref: 'Table' } }] }, 'local-table'],
    [
      'Select of Split',
      { 'Fn::Select': [1, { 'Fn::Split': [':', { 'Fn::GetAtt': ['Table', 'Arn'] }] }] },
      'table',
    ],
  ])('%s', (_name, value, expected) => {
    expect(resolver.resolve(value, 'test')).toEqual(expected);
  });

  test.each<[string, Json]>([
    ['a resource that was not made', { Ref: 'Nothing' }],
    ['an attribute that was not made', { 'Fn::GetAtt': ['Table', 'StreamArn'] }],
    ['a function that is not known', { 'Fn::ImportValue': 'x' }],
    ['a choice out of range', { 'Fn::Select': [3, ['a']] }],
  ])('%s is an error, not a guess', (_name, value) => {
    expect(() => resolver.resolve(value, 'test')).toThrow('template: test');
  });

  test('the port of a container in an environment is the one that it has on loopback', () => {
    expect(resolver.environment({ ENGINE_PORT: '8080', SIZE: '8080', N: 1 }, 'test')).toEqual({
      ENGINE_PORT: '4321',
      SIZE: '8080',
      N: '1',
    });
  });
});

test.each([
  ['cron(*/5 * * * ? *)', 5],
  ['cron(0/15 * * * ? *)', 15],
  ['rate(1 minute)', 1],
  ['rate(7 minutes)', 7],
])('schedule %s is every %d minutes', (expression, minutes) => {
  expect(parseEveryMinutes(expression)).toBe(minutes);
});

test.each(['cron(*/7 * * * ? *)', 'cron(0 12 * * ? *)', 'rate(1 day)', 'cron(*/0 * * * ? *)', ''])(
  'schedule %p is refused rather than guessed',
  (expression) => {
    expect(() => parseEveryMinutes(expression)).toThrow();
  },
);

const folder = mkdtempSync(join(tmpdir(), 'mergeyard-functions-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const pools: FunctionPool[] = [];
afterEach(() => Promise.all(pools.splice(0).map((pool) => pool.stop())));

function givenFunction(source: string, timeoutMs = 5_000): FunctionPool {
  const file = join(folder, `${createHash('sha256').update(source).digest('hex')}.mjs`);
  writeFileSync(file, source);
  const pool = new FunctionPool(
    { name: 'Fn', arn: 'arn:fn', file, environment: { GIVEN: 'yes' }, timeoutMs, memoryMb: 128 },
    () => undefined,
  );
  pools.push(pool);
  return pool;
}

describe('function pool', () => {
  test('a function sees exactly its environment, and its context', async () => {
    const pool = givenFunction(
      'export const handler = async (event, context) => ({ env: { ...process.env }, event, name: context.functionName, left: context.getRemainingTimeInMillis() > 0 });',
    );
    expect(await pool.invoke({ x: 1 })).toEqual({
      env: { GIVEN: 'yes' },
      event: { x: 1 },
      name: 'Fn',
      left: true,
    });
  });

  test('an instance is kept for the next invocation, and serves one at a time', async () => {
    const pool = givenFunction(
      'let count = 0, busy = 0; export const handler = async () => { busy += 1; const most = busy; count += 1; await new Promise((r) => setTimeout(r, 20)); busy -= 1; return { count, most }; };',
    );
    expect(await pool.invoke({})).toEqual({ count: 1, most: 1 });
    expect(await pool.invoke({})).toEqual({ count: 2, most: 1 });
    const many = await Promise.all(Array.from({ length: 12 }, () => pool.invoke({})));
    expect(many.map((each) => (each as { most: number }).most)).toEqual(Array(12).fill(1));
  });

  test.each([
    ['throws', 'export const handler = async () => { throw new TypeError("bad"); };', 'TypeError'],
    ['ends its process', 'export const handler = async () => process.exit(1);', 'Runtime.ExitError'],
    ['does not load', 'throw new RangeError("at load");', 'RangeError'],
    [
      'never ends',
      'export const handler = () => new Promise(() => setInterval(() => {}, 1000));',
      'Runtime.ExitError',
    ],
  ])('a function that %s is an error of that invocation only', async (_name, source, errorType) => {
    const pool = givenFunction(source, 1_000);
    await expect(pool.invoke({})).rejects.toMatchObject({ name: 'InvocationError', errorType });
    await expect(pool.invoke({})).rejects.toMatchObject({ errorType });
  });

  test('loading the code takes nothing from the time of an invocation: many may start at once', async () => {
    const pool = givenFunction(
      'await new Promise((done) => setTimeout(done, 600)); export const handler = async (_event, context) => context.getRemainingTimeInMillis();',
      500,
    );
    expect(await pool.invoke({})).toBeGreaterThan(100);
  });

  test('killed in the middle, the invocation fails and the next one works', async () => {
    const pool = givenFunction(
      'export const handler = async (event) => { if (event.wait) await new Promise((r) => setTimeout(r, 60000)); return "done"; };',
    );
    const waiting = pool.invoke({ wait: true });
    const failed = expect(waiting).rejects.toMatchObject({ errorType: 'Runtime.ExitError' });
    expect(await pool.kill()).toBe(1);
    await failed;
    expect(await pool.invoke({})).toBe('done');
  });
});

describe('http front', () => {
  const echo =
    'export const handler = async (event) => ({ statusCode: 201, headers: { "x-own": "1" }, cookies: ["a=1", "b=2"], body: JSON.stringify(event) });';

  async function givenFront(routes: Readonly<Record<string, FunctionPool>>) {
    const front = createHttpFront(
      Object.entries(routes).map(([key, target]) => ({ key, target })),
      () => undefined,
    );
    await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(front.address() as AddressInfo).port}`;
    const close = () =>
      new Promise<void>((resolve) => {
        front.close(() => resolve());
        front.closeAllConnections();
      });
    return { url, close };
  }

  test('a request becomes a payload 2.0 event, and the answer a response', async () => {
    const pool = givenFunction(echo);
    const { url, close } = await givenFront({ 'POST /repos/{id}/run': pool });
    const response = await fetch(`${url}/repos/a%20b/run?x=1&x=2&y=`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Thing': 'T', cookie: 'k=v; l=w' },
      body: '{"ü":1}',
    });
    expect([response.status, response.headers.get('x-own')]).toEqual([201, '1']);
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect(await response.json()).toMatchObject({
      version: '2.0',
      routeKey: 'POST /repos/{id}/run',
      rawPath: '/repos/a%20b/run',
      rawQueryString: 'x=1&x=2&y=',
      pathParameters: { id: 'a b' },
      queryStringParameters: { x: '1,2', y: '' },
      cookies: ['k=v', 'l=w'],
      headers: { 'x-thing': 'T', 'content-type': 'application/json' },
      body: '{"ü":1}',
      isBase64Encoded: false,
      requestContext: { http: { method: 'POST', path: '/repos/a%20b/run' }, stage: '$default' },
    });
    await close();
  });

  test('bytes that are no text arrive as they were sent', async () => {
    const { url, close } = await givenFront({ $default: givenFunction(echo) });
    const bytes = Buffer.from([0x7b, 0xff, 0xfe, 0x00, 0x7d]);
    const response = await fetch(`${url}/x`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: bytes,
    });
    const event = (await response.json()) as { body: string; isBase64Encoded: boolean };
    expect(event.isBase64Encoded).toBe(true);
    expect(Buffer.from(event.body, 'base64')).toEqual(bytes);
    await close();
  });

  test('the most exact route wins, and without any the gateway answers in its own shape', async () => {
    const named = (name: string) =>
      givenFunction(`export const handler = async () => ({ statusCode: 200, body: '${name}' });`);
    const { url, close } = await givenFront({
      'ANY /a/{rest+}': named('greedy'),
      'GET /a/{id}': named('one'),
      'GET /a/b': named('exact'),
    });
    const text = async (path: string, method = 'GET') => (await fetch(url + path, { method })).text();
    expect([
      await text('/a/b'),
      await text('/a/c'),
      await text('/a/c/d'),
      await text('/a/b', 'POST'),
    ]).toEqual(['exact', 'one', 'greedy', 'greedy']);
    expect(await text('/none')).toBe('{"message":"Not Found"}');
    await close();
  });

  test('a function that fails is a bare 500 of the gateway', async () => {
    const pool = givenFunction('export const handler = async () => { throw new Error("secret words"); };');
    const { url, close } = await givenFront({ $default: pool });
    const response = await fetch(url);
    expect([response.status, await response.text()]).toEqual([500, '{"message":"Internal Server Error"}']);
    await close();
  });
});
