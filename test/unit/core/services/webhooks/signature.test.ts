import { createHmac } from 'node:crypto';
import { REFUSED_DELIVERIES_MAX, REFUSED_DELIVERIES_WINDOW_MS } from '#core/domain/api-limits.ts';
import { Secret } from '#core/secret.ts';
import {
  acceptForgeWebhook,
  type ForgeWebhookRequest,
} from '#core/services/webhooks/accept-forge-webhook.ts';
import { createRefusedDeliveries } from '#core/services/webhooks/refused-deliveries.ts';
import { SeededRandom } from '../../../../support/seeded-random.ts';
import { bodyOf, codeOf, givenHook, OTHER, requestOf, SECRET, sign } from './given-hook.ts';

describe('signature (A102, A103)', () => {
  const body = bodyOf();
  const good = sign(body);
  const hex = good.slice('sha256='.length);
  const sha1 = createHmac('sha1', SECRET).update(body).digest('hex');

  test('the right one passes', async () => {
    const { deps } = await givenHook();
    expect(await acceptForgeWebhook(deps, requestOf(body))).toBe('wait_for_reconcile');
  });

  test.each<[string, string | undefined]>([
    ['missing', undefined],
    ['empty', ''],
    ['the name only', 'sha256='],
    ['no name', hex],
    ['sha1', `sha1=${sha1}`],
    ['sha1 under the name of sha256', `sha256=${sha1}`],
    ['sha512', `sha512=${createHmac('sha512', SECRET).update(body).digest('hex')}`],
    ['upper-case hex', `sha256=${hex.toUpperCase()}`],
    ['upper-case name', `SHA256=${hex}`],
    ['one digit short', good.slice(0, -1)],
    ['one digit long', `${good}0`],
    ['half', good.slice(0, 7 + 32)],
    ['doubled', `${good}${hex}`],
    ['two in one header', `${good}, ${good}`],
    ['two, the first one wrong', `sha256=${'0'.repeat(64)},${good}`],
    ['leading space', ` ${good}`],
    ['trailing space', `${good} `],
    ['trailing new line', `${good}\n`],
    ['a space after the sign', good.replace('=', '= ')],
    ['a zero in front', `sha256=0${hex.slice(0, 63)}`],
    ['0x in front', `sha256=0x${hex.slice(2)}`],
    ['letters that are no hex', `sha256=${'g'.repeat(64)}`],
    [
      'full-width digits',
      `sha256=${hex.replace(/[0-9]/g, (digit) => String.fromCharCode(0xff10 + Number(digit)))}`,
    ],
    ['zeros', `sha256=${'0'.repeat(64)}`],
    ['base64', `sha256=${Buffer.from(hex, 'hex').toString('base64')}`],
    ['reversed', `sha256=${[...hex].reverse().join('')}`],
    ['of an empty body', sign(Buffer.alloc(0))],
    ['of another body', sign(bodyOf({ action: 'x' }))],
    ['of another repo’s secret', sign(body, OTHER)],
    ['of an empty secret', `sha256=${createHmac('sha256', '').update(body).digest('hex')}`],
    ['of the secret in upper case', sign(body, SECRET.toUpperCase())],
    ['of the secret with a new line', sign(body, `${SECRET}\n`)],
    ['of the placeholder for no secret', sign(body, 'no secret')],
    ['the secret itself', `sha256=${SECRET}`],
    ['an object’s text', '[object Object]'],
  ])('%s is 401 and changes nothing', async (_name, signature) => {
    const world = await givenHook();
    expect(await codeOf(acceptForgeWebhook(world.deps, requestOf(body, { signature })))).toBe(
      'invalid_signature',
    );
    expect(await world.wakeSeq()).toBe(0);
    expect(world.queue.wakes).toEqual([]);
  });

  test.each<[string, Buffer]>([
    ['re-serialised', Buffer.from(JSON.stringify(JSON.parse(body.toString('utf8'))))],
    ['with a byte order mark', Buffer.concat([Buffer.from('\uFEFF'), body])],
    ['with a new line', Buffer.concat([body, Buffer.from('\n')])],
    ['with CRLF', Buffer.from(body.toString('utf8').replace(/\n/g, '\r\n'))],
    ['with one space more', Buffer.from(body.toString('utf8').replace('{', '{ '))],
    ['with another value', bodyOf({ ref: 'refs/heads/main' })],
  ])('the body %s is 401 under the old signature', async (_name, changed) => {
    const world = await givenHook();
    const request = requestOf(changed, { signature: good });
    expect(await codeOf(acceptForgeWebhook(world.deps, request))).toBe('invalid_signature');
    expect(await world.wakeSeq()).toBe(0);
  });

  test('no single flipped bit of body or digest is accepted', async () => {
    const { deps } = await givenHook();
    const random = new SeededRandom(102);
    for (let round = 0; round < 500; round += 1) {
      const flipped = Buffer.from(body);
      const at = random.int(flipped.length);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << random.int(8));
      const mac = Buffer.from(hex, 'hex');
      const digit = random.int(mac.length);
      mac[digit] = (mac[digit] ?? 0) ^ (1 << random.int(8));
      const codes = [
        await codeOf(acceptForgeWebhook(deps, requestOf(flipped, { signature: good }))),
        await codeOf(
          acceptForgeWebhook(deps, requestOf(body, { signature: `sha256=${mac.toString('hex')}` })),
        ),
      ];
      for (const code of codes)
        expect([`seed 102 round ${round}`, code.startsWith('200')]).toEqual([
          `seed 102 round ${round}`,
          false,
        ]);
    }
  });

  test('a repo without a secret accepts nothing, not even an empty key', async () => {
    for (const webhookSecret of [null, new Secret('')]) {
      const world = await givenHook({ webhookSecret });
      for (const key of ['', 'no secret', SECRET]) {
        const signature = `sha256=${createHmac('sha256', key).update(body).digest('hex')}`;
        expect(await codeOf(acceptForgeWebhook(world.deps, requestOf(body, { signature })))).toBe(
          'invalid_signature',
        );
      }
    }
  });

  test('400 wrong signatures of one address for one repo cost no more look-ups than the first twenty, and silence no other', async () => {
    const world = await givenHook();
    const deps = { ...world.deps, refused: createRefusedDeliveries(() => world.clock.now()) };
    const deliver = (changes: Partial<ForgeWebhookRequest>) =>
      codeOf(acceptForgeWebhook(deps, requestOf(body, { sender: '203.0.113.9', ...changes })));
    const signature = sign(body, 'guessed');
    for (let nth = 0; nth < 400; nth += 1) expect(await deliver({ signature })).toBe('invalid_signature');
    expect(world.calls.filter((call) => call === 'findRepoForHook')).toHaveLength(REFUSED_DELIVERIES_MAX);
    expect(await deliver({})).toBe('invalid_signature');
    // The forge itself, and another repository of the address.
    expect(await deliver({ sender: '203.0.113.10' })).toBe('200 wait_for_reconcile');
    expect(await deliver({ hookId: 'b'.repeat(64), signature: sign(body, OTHER) })).toMatch(/^200/);
    await world.clock.advance(REFUSED_DELIVERIES_WINDOW_MS);
    expect(await deliver({})).toMatch(/^200/);
  });

  test('another spelling of the address opens no second share of wrong signatures', async () => {
    const world = await givenHook();
    const deps = { ...world.deps, refused: createRefusedDeliveries(() => world.clock.now()) };
    for (let nth = 0; nth < 2 * REFUSED_DELIVERIES_MAX; nth += 1) {
      const spelt = bodyOf({
        repository: {
          full_name: nth % 2 === 0 ? 'ACME/app' : 'acme/APP',
          html_url: `https://FORGE.example:443${'/'.repeat(1 + nth)}acme/app`,
        },
      });
      const request = requestOf(spelt, { signature: sign(spelt, 'guessed'), sender: '203.0.113.9' });
      expect(await codeOf(acceptForgeWebhook(deps, request))).toBe('invalid_signature');
    }
    expect(world.calls.filter((call) => call === 'findRepoForHook')).toHaveLength(REFUSED_DELIVERIES_MAX);
  });

  test('no error and no answer holds the secret', async () => {
    const { deps } = await givenHook();
    const failed = await acceptForgeWebhook(deps, requestOf(body, { signature: sign(body, OTHER) })).catch(
      String,
    );
    expect(failed).not.toContain(SECRET);
  });
});
