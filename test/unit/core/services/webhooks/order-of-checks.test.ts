import { WEBHOOK_BODY_BYTES_MAX } from '#core/domain/limits.ts';
import { StoreError } from '#core/ports/store.ts';
import {
  acceptForgeWebhook,
  type ForgeWebhookRequest,
} from '#core/services/webhooks/accept-forge-webhook.ts';
import { bodyOf, codeOf, givenHook, OTHER, REPOSITORY, requestOf, sign } from './given-hook.ts';

describe('order of the checks (D-31)', () => {
  const unknown = bodyOf({
    repository: { full_name: 'acme/none', html_url: 'https://forge.example/acme/none' },
  });
  const big = Buffer.alloc(WEBHOOK_BODY_BYTES_MAX + 1, 0x20);

  test.each<[string, Buffer, Partial<ForgeWebhookRequest>, string]>([
    ['too large comes before no signature', big, { signature: undefined }, 'invalid_body'],
    ['no signature comes before bad JSON', Buffer.from('{'), { signature: undefined }, 'invalid_signature'],
    [
      'bad JSON comes before a wrong signature',
      Buffer.from('{'),
      { signature: `sha256=${'0'.repeat(64)}` },
      'invalid_body',
    ],
    [
      'no repository comes before a wrong signature',
      Buffer.from('{}'),
      { signature: `sha256=${'0'.repeat(64)}` },
      'missing_fields',
    ],
    [
      'an unknown repo comes before a wrong signature',
      unknown,
      { signature: `sha256=${'0'.repeat(64)}` },
      'not_found',
    ],
    [
      'a wrong signature comes before a missing event type',
      bodyOf(),
      { signature: `sha256=${'0'.repeat(64)}`, eventType: undefined },
      'invalid_signature',
    ],
    ['a missing event type comes last', bodyOf(), { eventType: undefined }, 'missing_fields'],
  ])('%s', async (_name, body, changes, code) => {
    const world = await givenHook();
    expect(await codeOf(acceptForgeWebhook(world.deps, requestOf(body, changes)))).toBe(code);
    expect(await world.wakeSeq()).toBe(0);
  });

  test.each<[string, string]>([
    ['an array', '[]'],
    ['null', 'null'],
    ['a number', '1'],
    ['nothing', ''],
    ['truncated', '{"repository":'],
  ])('%s as a body is 400', async (_name, text) => {
    const { deps } = await givenHook();
    expect(await codeOf(acceptForgeWebhook(deps, requestOf(Buffer.from(text))))).toBe('invalid_body');
  });

  test.each<[string, unknown]>([
    ['absent', undefined],
    ['a string', 'acme/app'],
    ['without a name', { html_url: REPOSITORY.html_url }],
    ['without an address', { full_name: 'acme/app' }],
    [
      'whose address has another name',
      { full_name: 'acme/app', html_url: 'https://forge.example/acme/other' },
    ],
  ])('a repository that is %s is missing_fields', async (_name, repository) => {
    const { deps } = await givenHook();
    expect(await codeOf(acceptForgeWebhook(deps, requestOf(bodyOf({ repository }))))).toBe('missing_fields');
  });

  test('a wrong signature costs no more than the look-up', async () => {
    const world = await givenHook();
    await codeOf(
      acceptForgeWebhook(world.deps, requestOf(bodyOf(), { signature: `sha256=${'0'.repeat(64)}` })),
    );
    expect(world.calls).toEqual(['findRepoForHook']);
    world.calls.length = 0;
    await codeOf(acceptForgeWebhook(world.deps, requestOf(bodyOf(), { signature: 'junk' })));
    expect(world.calls).toEqual([]);
  });
});

describe('a flood of one repo (D-52)', () => {
  test('600 at once are heard, the next is ignored and changes nothing; a tenth of a second later one more is', async () => {
    const { deps: open, clock, store, wakeSeq } = await givenHook();
    const deps = { ...open, rates: store };
    const send = () => acceptForgeWebhook(deps, requestOf(bodyOf()));
    for (let sent = 0; sent < 600; sent += 1) expect(await send()).toBe('wait_for_reconcile');
    const before = await wakeSeq();
    expect(await send()).toBe('ignored');
    expect(await wakeSeq()).toBe(before);
    await clock.advance(100);
    expect([await send(), await send()]).toEqual(['wait_for_reconcile', 'ignored']);
  });

  test('another repo is heard, and an event without a signature uses nothing up', async () => {
    const { deps: open, store } = await givenHook();
    const deps = { ...open, rates: store };
    const body = bodyOf();
    const forged = { ...requestOf(body), signature: sign(body, 'not-the-secret') };
    for (let sent = 0; sent < 700; sent += 1)
      expect(await codeOf(acceptForgeWebhook(deps, forged))).toBe('invalid_signature');
    expect(await acceptForgeWebhook(deps, requestOf(body))).toBe('wait_for_reconcile');
    for (let sent = 0; sent < 600; sent += 1) await acceptForgeWebhook(deps, requestOf(body));
    const two = bodyOf({ repository: { full_name: 'acme/two', html_url: 'https://forge.example/acme/two' } });
    expect(await acceptForgeWebhook(deps, requestOf(two, { signature: sign(two, OTHER) }))).toBe(
      'wait_for_reconcile',
    );
  });

  test('a limiter that cannot count lets through', async () => {
    const { deps } = await givenHook();
    const takeToken = async (): Promise<never> => {
      throw new StoreError('unavailable', 'takeToken');
    };
    expect(await acceptForgeWebhook({ ...deps, rates: { takeToken } }, requestOf(bodyOf()))).toBe(
      'wait_for_reconcile',
    );
  });
});
