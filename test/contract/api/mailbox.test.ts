import { MAIL_CONFIRMS_AT_ONCE_MAX } from '#core/domain/api-limits.ts';
import { ApiWorld, TENANT_A, TOKEN_A, TOKEN_B } from '../../support/api-world.ts';
import { givenMailbox } from '../../support/given-mailbox.ts';

const EMAIL = 'Team@example.org';
const ADDRESS = 'team@example.org';
const NOTIFICATION = { email: EMAIL, slack: null, discord: null, matrix: null, webhook: null };

let world: ApiWorld;
beforeEach(() => {
  world = new ApiWorld();
});

const given = async (notification: typeof NOTIFICATION | null) =>
  (await world.enroll(TENANT_A, { wakeupMode: 'poll', notification })).repo;
const again = (id: string, token = TOKEN_A) =>
  world.as(token)('POST', `/api/v1/user/repos/${id}/notification/confirm`);
const shownState = async () => {
  const { json } = await world.as(TOKEN_A)('GET', '/api/v1/user/queue/activity');
  return json.repos[0].notification.email_state;
};
/** What the reader of the mailbox does with the links of a mail. */
const link = async () => (await givenMailbox(world.store, TENANT_A, EMAIL, 'k'.repeat(32))).link;
const confirm = async () => {
  const ask = { key: 'a'.repeat(32), until: world.clock.now() + 1 };
  await world.store.beginConfirmation(await link(), ask, true);
  await world.store.confirmMailbox({ ...(await link()), key: ask.key });
};

describe('the address for notices', () => {
  test('its reader is asked when it is stored, and not by a change that leaves it as it was', async () => {
    const { id } = await given(null);
    const patch = (body: unknown) => world.as(TOKEN_A)('PATCH', `/api/v1/user/repos/${id}`, body);
    expect((await patch({ notification: { email: EMAIL } })).status).toBe(200);
    const asked = { kind: 'confirm_mailbox', tenantId: TENANT_A, subject: ADDRESS, email: EMAIL };
    expect(world.notices).toEqual([asked]);
    await patch({ notification: { email: ADDRESS } });
    await patch({ bisect_fanout: 3 });
    await patch({ notification: null });
    expect(world.notices).toEqual([asked]);
    world.store.takeNotices();
    await patch({ notification: { email: EMAIL } });
    expect(world.notices).toEqual([asked, asked]);
  });

  test('its state is waiting, confirmed or unsubscribed, in the API as it is', async () => {
    await given(NOTIFICATION);
    expect(await shownState()).toBe('waiting');
    await confirm();
    expect(await shownState()).toBe('confirmed');
    await world.store.leaveMailbox(await link());
    expect(await shownState()).toBe('unsubscribed');
  });

  test('a state that cannot be read is null, and the activity is shown', async () => {
    const failing = new ApiWorld();
    world = failing;
    await given(NOTIFICATION);
    failing.store.readMailboxStates = async () => {
      throw new Error('no answer');
    };
    expect(await shownState()).toBeNull();
  });

  test('send again asks for one mail, three at once, and says when it may ask again', async () => {
    const { id } = await given(NOTIFICATION);
    for (let nth = 0; nth < MAIL_CONFIRMS_AT_ONCE_MAX; nth += 1) {
      expect(await again(id)).toMatchObject({ status: 200, json: { email_state: 'waiting' } });
      world.store.takeNotices();
    }
    const refused = await again(id);
    expect(refused).toMatchObject({ status: 429, code: 'rate_limited' });
    expect(Number(refused.headers['retry-after'])).toBe(7 * 24 * 3_600);
    const asked = { kind: 'confirm_mailbox_again', tenantId: TENANT_A, subject: ADDRESS, email: EMAIL };
    expect(world.notices).toEqual(Array.from({ length: MAIL_CONFIRMS_AT_ONCE_MAX }, () => asked));
  });

  test('send again mails to no reader who has confirmed or unsubscribed, and says which', async () => {
    const { id } = await given(NOTIFICATION);
    await confirm();
    expect((await again(id)).json).toEqual({ email_state: 'confirmed' });
    await world.store.leaveMailbox(await link());
    expect((await again(id)).json).toEqual({ email_state: 'unsubscribed' });
    expect(world.notices).toEqual([]);
  });

  test('send again without an address, or for a repository of another tenant, is 404', async () => {
    const { id } = await given(null);
    expect(await again(id)).toMatchObject({ status: 404, code: 'not_found' });
    expect(await again(id, TOKEN_B)).toMatchObject({ status: 404, code: 'not_found' });
  });
});
