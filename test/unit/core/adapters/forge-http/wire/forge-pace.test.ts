import { ForgePace } from '#core/adapters/forge-http/wire/forge-pace.ts';
import { type HttpRequest, type HttpResponse, HttpSendError } from '#core/adapters/http-guard/http-send.ts';
import { VirtualClock } from '../../../../../support/virtual-clock.ts';

const OK: HttpResponse = { status: 200, headers: {}, body: Buffer.from('{}') };
const ASKS_FOR_LESS: HttpResponse = { status: 429, headers: { 'retry-after': '30' }, body: Buffer.alloc(0) };

/** A forge that answers so until told otherwise, and when each call reached it. */
function open() {
  const clock = new VirtualClock();
  const sent: { readonly at: number; readonly host: string }[] = [];
  const world = { answer: OK as HttpResponse | HttpSendError };
  // Those who wait do so side by side.
  const sleep = (ms: number) =>
    new Promise<void>((resolve) => {
      clock.after(ms, () => {
        resolve();
        return new Promise((settled) => setImmediate(settled));
      });
    });
  const waiting = { now: () => clock.now(), monotonic: () => clock.monotonic(), sleep };
  const send = new ForgePace(waiting).pace(async ({ url }) => {
    sent.push({ at: clock.monotonic(), host: new URL(url).host });
    if (world.answer instanceof HttpSendError) throw world.answer;
    return world.answer;
  });
  const call = (method: HttpRequest['method'] = 'GET', host = 'forge.example', token = 'bot', path = 'x') =>
    send({
      method,
      url: `https://${host}/api/v1/${path}`,
      timeoutMs: 1_000,
      bodyBytesMax: 1_000,
      headers: { authorization: `token ${token}` },
    });
  const callAs = (token: string) => call('GET', 'forge.example', token);
  const callIn = (repo: string, method: HttpRequest['method'] = 'GET') =>
    call(method, 'forge.example', 'bot', `repos/${repo}/pulls?page=1`);
  /** After those who need not wait were sent. */
  const pass = async (ms: number) => {
    await new Promise((settled) => setImmediate(settled));
    await clock.advance(ms);
  };
  return { clock, sent, world, call, callAs, callIn, pass };
}

test('a forge that never complains is not held back', async () => {
  const { sent, call } = open();
  await Promise.all(Array.from({ length: 200 }, () => call()));
  expect(sent.map(({ at }) => at)).toEqual(Array.from({ length: 200 }, () => sent[0]?.at));
});

test('one that answers 429 gets no read of any repository before its Retry-After; other hosts do, and writes go', async () => {
  const { clock, sent, world, call } = open();
  world.answer = ASKS_FOR_LESS;
  await call();
  world.answer = OK;
  sent.length = 0;
  const refused = await call();
  expect([refused.status, refused.headers['retry-after']]).toEqual([429, '30']);
  expect((await call('POST')).status).toBe(200);
  expect((await call('GET', 'other.example')).status).toBe(200);
  expect(sent.map(({ host }) => host)).toEqual(['forge.example', 'other.example']);
  await clock.advance(30_000);
  expect((await call()).status).toBe(200);
});

test('afterwards it gets five reads a second, and a read that would wait for long is told to come again', async () => {
  const { clock, sent, world, call, pass } = open();
  world.answer = ASKS_FOR_LESS;
  await call();
  world.answer = OK;
  await clock.advance(30_000);
  sent.length = 0;
  const answers = Promise.all(Array.from({ length: 60 }, () => call()));
  await pass(10_000);
  const statuses = (await answers).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(26);
  expect(statuses.filter((status) => status === 429)).toHaveLength(34);
  const gaps = sent.slice(1).map(({ at }, index) => at - (sent[index]?.at ?? 0));
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(200);
});

test('each complaint halves that, and each minute without one doubles it, until there is no ceiling', async () => {
  const { clock, sent, world, call, pass } = open();
  const perSecond = async () => {
    sent.length = 0;
    const answers = Promise.all(Array.from({ length: 400 }, () => call()));
    await pass(6_000);
    await answers;
    const from = sent[0]?.at ?? 0;
    return sent.filter(({ at }) => at - from < 1_000).length;
  };
  world.answer = ASKS_FOR_LESS;
  await call();
  await clock.advance(30_000);
  await call();
  world.answer = OK;
  await clock.advance(30_000);
  expect(await perSecond()).toBe(3);
  await clock.advance(60_000);
  expect(await perSecond()).toBe(5);
  await clock.advance(10 * 60_000);
  expect(await perSecond()).toBe(400);
});

test('one that was away begins with five a second as well', async () => {
  const { sent, world, call, pass } = open();
  world.answer = new HttpSendError('connect');
  for (let index = 0; index < 3; index += 1) await call().catch(() => undefined);
  world.answer = OK;
  await call();
  sent.length = 0;
  const answers = Promise.all(Array.from({ length: 5 }, () => call()));
  await pass(2_000);
  await answers;
  const gaps = sent.slice(1).map(({ at }, index) => at - (sent[index]?.at ?? 0));
  expect(gaps).toEqual([200, 200, 200, 200]);
});

test('a single call that fails slows nothing', async () => {
  const { sent, world, call } = open();
  world.answer = new HttpSendError('timeout');
  await call().catch(() => undefined);
  world.answer = OK;
  await call();
  await Promise.all(Array.from({ length: 50 }, () => call()));
  expect(new Set(sent.map(({ at }) => at)).size).toBe(1);
});

test('a credential that the forge limits holds back no other of its host', async () => {
  const { clock, sent, world, callAs } = open();
  await callAs('neighbour');
  world.answer = ASKS_FOR_LESS;
  await callAs('greedy');
  world.answer = OK;
  sent.length = 0;
  expect((await callAs('greedy')).status).toBe(429);
  const answers = await Promise.all(Array.from({ length: 50 }, () => callAs('neighbour')));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(new Set(sent.map(({ at }) => at))).toEqual(new Set([clock.monotonic()]));
});

test('a forge that limits most of the credentials that ask limits by address: all are held back', async () => {
  const { sent, world, callAs, clock } = open();
  for (const token of ['one', 'two', 'three']) await callAs(token);
  world.answer = ASKS_FOR_LESS;
  await callAs('one');
  world.answer = OK;
  expect((await callAs('three')).status).toBe(200);
  world.answer = ASKS_FOR_LESS;
  await callAs('two');
  world.answer = OK;
  sent.length = 0;
  for (const token of ['one', 'two', 'three', 'never seen']) expect((await callAs(token)).status).toBe(429);
  expect(sent).toEqual([]);
  await clock.advance(30_000);
  expect((await callAs('three')).status).toBe(200);
});

test('two limited credentials of four hold back no other', async () => {
  const { world, callAs } = open();
  for (const token of ['a', 'b']) await callAs(token);
  world.answer = ASKS_FOR_LESS;
  for (const token of ['greedy', 'its twin']) await callAs(token);
  world.answer = OK;
  for (const token of ['a', 'b']) expect((await callAs(token)).status).toBe(200);
});

test('one that asks no more is not counted among those that ask', async () => {
  const { clock, world, callAs } = open();
  for (const token of ['a', 'b', 'c']) await callAs(token);
  await clock.advance(16 * 60_000);
  world.answer = ASKS_FOR_LESS;
  for (const token of ['one', 'two']) await callAs(token);
  world.answer = OK;
  expect((await callAs('three')).status).toBe(429);
});

test('calls of one credential that get no answer slow no other of its host', async () => {
  const { sent, world, callAs, pass } = open();
  await callAs('neighbour');
  world.answer = new HttpSendError('timeout');
  for (let index = 0; index < 3; index += 1) await callAs('huge').catch(() => undefined);
  world.answer = OK;
  await callAs('huge');
  sent.length = 0;
  const answers = Promise.all(Array.from({ length: 50 }, () => callAs('neighbour')));
  await pass(0);
  await answers;
  expect(new Set(sent.map(({ at }) => at)).size).toBe(1);
});

describe('a repository whose answers are large', () => {
  const MIB = 1024 * 1024;
  const large = (mib: number): HttpResponse => ({ ...OK, sentBytes: mib * MIB });
  /** When each call was sent, after the first. */
  const timesOf = (sent: readonly { readonly at: number }[]) => sent.map(({ at }) => at - (sent[0]?.at ?? 0));

  test('waits with its next read for as long as the bytes beyond 96 MiB take at 8 MiB a second', async () => {
    const { clock, sent, world, callIn, pass } = open();
    world.answer = large(32);
    for (let nth = 0; nth < 4; nth += 1) await callIn('acme/app');
    expect(timesOf(sent)).toEqual([0, 0, 0, 0]);
    const next = callIn('acme/app');
    await pass(3_999);
    expect(sent).toHaveLength(4);
    await pass(1);
    await next;
    expect(timesOf(sent)[4]).toBe(4_000);
    await clock.advance(60_000);
    await callIn('acme/app');
    expect(timesOf(sent)[5]).toBe(64_000);
  });

  test('has nothing sent that would wait for more than five seconds, and that is no failure of the forge', async () => {
    const { clock, sent, world, callIn } = open();
    world.answer = large(137);
    await callIn('acme/app');
    for (let nth = 0; nth < 4; nth += 1) {
      await expect(callIn('acme/app')).rejects.toMatchObject({ kind: 'withheld' });
    }
    expect(sent).toHaveLength(1);
    world.answer = OK;
    await clock.advance(6_000);
    for (let nth = 0; nth < 50; nth += 1) await callIn('acme/app');
    expect(sent).toHaveLength(51);
    expect(timesOf(sent).at(-1)).toBe(6_000);
  });

  test('counts what was refused as it came', async () => {
    const { sent, world, callIn } = open();
    for (const kind of ['too_large', 'broken'] as const) {
      world.answer = new HttpSendError(kind, 90 * MIB);
      await callIn('acme/app').catch(() => undefined);
    }
    await expect(callIn('acme/app')).rejects.toMatchObject({ kind: 'withheld' });
    expect(sent).toHaveLength(2);
  });

  test('keeps no write waiting, no other repository of its credential, and no other credential', async () => {
    const { sent, world, call, callIn } = open();
    world.answer = large(600);
    await callIn('acme/app');
    world.answer = OK;
    await callIn('acme/app', 'POST');
    await callIn('acme/app-2');
    await call('GET', 'forge.example', 'other', 'repos/acme/app/pulls');
    await call();
    expect(timesOf(sent)).toEqual([0, 0, 0, 0, 0]);
  });
});
