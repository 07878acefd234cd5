/** @jest-environment jsdom */
import { fireEvent, screen, waitFor } from '@testing-library/react';
import { DRIFTS } from '#core/domain/set-up/drift.ts';
import { mountPage } from '../../../../support/mount-page.tsx';
import { givenActivity, givenFeed, givenStatus } from '../../rows.ts';

const ID = '11111111-0000-4000-8000-000000000001';
const PROVISION = `POST /api/v1/user/repos/${ID}/provision`;
const SINCE = '2026-11-21T10:00:00.000Z';

function mount(changed: Parameters<typeof givenActivity>[0]) {
  const activity = givenActivity({ repo_id: ID, ...changed });
  return mountPage({
    at: `/repos/${ID}`,
    answers: {
      'GET /api/v1/me': { id: 'tenant' },
      'GET /api/v1/user/queue/status': { queue_name: 'mq', repos: [givenStatus({ id: ID })] },
      'GET /api/v1/user/queue/activity': {
        repos: [activity],
        recent_activity: [],
        queue_batches: [],
        stats: null,
        record_errors: [],
        recent_activity_truncated: false,
        queue_batches_truncated: false,
        queue_batches_next: null,
      },
      [PROVISION]: {},
    },
  });
}

const panel = async () =>
  (await screen.findByRole('heading', { name: /Changed on the forge/ })).closest('section')?.textContent;

function driftOf(kind: keyof typeof DRIFTS, repair: 'off' | 'people') {
  return { kind, since: SINCE, by: 'unknown' as const, repair, ...DRIFTS[kind] };
}

test('a change on the forge is told with what to do, and the button that the words name puts it back', async () => {
  const { sent } = mount({ drifts: [driftOf('webhook_missing', 'off')] });
  const said = await panel();
  expect(said).toContain(DRIFTS.webhook_missing.says);
  expect(said).toContain('does not tell who');
  const [, named = ''] = /Press "([^"]+)"/.exec(DRIFTS.webhook_missing.next) ?? [];
  fireEvent.click(screen.getByRole('button', { name: named }));
  await waitFor(() => expect(sent.map(({ address }) => address)).toContain(PROVISION));
});

test.each([
  ['base', / at the earliest\./],
  ['rights', / at the earliest\./],
  ['webhook_missing', /, seen since /],
] as const)('since when %s holds is told as well as it is known', async (kind, words) => {
  mount({ drifts: [driftOf(kind, 'off')] });
  expect(await panel()).toMatch(words);
});

test('what no call of the queue puts back has no such button', async () => {
  mount({ drifts: [driftOf('protection', 'people')] });
  expect(await panel()).toContain(DRIFTS.protection.says);
  expect(screen.queryByRole('button', { name: 'Put it back now' })).toBeNull();
});

test('a repair of the service is told', async () => {
  mount({ repairs: [{ part: 'webhook', at: SINCE, result: 'done', by: 'unknown' }] });
  expect(await panel()).toContain('registered the webhook again');
});

test('the setup page does not call a setup finished that has changed since, and no person is asked for behind a lost right', async () => {
  const drift = driftOf('rights', 'people');
  mountPage({
    at: `/repos/${ID}/setup`,
    answers: {
      'GET /api/v1/me': { id: 'tenant' },
      'GET /api/v1/user/queue/status': { queue_name: 'mq', repos: [givenStatus({ id: ID })] },
      'GET /api/v1/user/queue/activity': givenFeed({
        repos: [givenActivity({ repo_id: ID, drifts: [drift] })],
      }),
    },
  });
  const said = await panel();
  expect(said).toContain(DRIFTS.rights.next);
  expect(said).not.toContain('does not tell who');
  expect(screen.getByText(/^Setup was finished, and something has changed/)).toBeTruthy();
  expect(screen.queryByText(/^Setup is finished/)).toBeNull();
});
