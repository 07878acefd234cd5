/** @jest-environment jsdom */
import { screen, within } from '@testing-library/react';
import { countPassed, sayEstimate, sayStanding, sayTurn } from '../../../../dashboard/view/pull.ts';
import { sayReason } from '../../../../dashboard/view/words.ts';
import { mountPage } from '../../../support/mount-page.tsx';
import { givenActivity, givenFeed, givenNode, givenQueue, givenStatus, givenStory, told } from '../rows.ts';

const AT = '2026-11-21T10:00:00.000Z';
const LATER = '2026-11-21T12:00:00.000Z';
const paused = (until: string | null) =>
  givenStory('paused', { in_queue: true, place: 7, now: { ...told('paused'), since: AT, until } });

const placed = (pr: number, state: 'ready' | 'waiting' | 'refused' | 'bounced', reason: string | null) => ({
  pr,
  title: `Change ${pr}`,
  priority: 'normal' as const,
  queued_at: AT,
  until: null,
  state,
  reason,
});

test('one that waits for a person says so before its place, and one that was bounced says that', () => {
  const conflict = givenStory('conflict', { in_queue: true, place: 1 });
  expect(sayStanding(conflict)).toBe('Waits for its author; keeps place 1');
  expect(sayStanding({ ...conflict, place: null })).toBe('Waits for its author; keeps its place');
  expect(sayStanding(givenStory('approvals_missing', { in_queue: true, place: 2 }))).toBe(
    'Waits for a reviewer; keeps place 2',
  );
  expect(sayStanding(givenStory('gate_failed'))).toBe('Bounced: not in the queue');
  expect(sayStanding(givenStory('auto_merge_cancelled'))).toBe('Not in the queue');
  // A pause holds up all of them.
  expect(sayStanding(paused(null))).toBe('In the queue, place 7');
});

test('a place that counts those which the queue passes says how many they are', () => {
  const line = [
    placed(1, 'bounced', 'bounced'),
    placed(2, 'waiting', 'conflict'),
    placed(3, 'refused', 'approvals_missing'),
    placed(4, 'ready', null),
    placed(5, 'waiting', 'paused'),
    placed(6, 'refused', 'changes_requested'),
  ];
  expect([2, 3, 4, 5, 6, 99].map((pr) => countPassed(pr, line))).toEqual([0, 1, 2, 2, 2, 0]);
  const next = givenStory('ready', { in_queue: true, place: 3 });
  expect(sayStanding(next, countPassed(4, line))).toBe(
    'In the queue, place 3; 2 before it wait for a person',
  );
  expect(sayStanding(next, 1)).toBe('In the queue, place 3; 1 before it waits for a person');
});

test('what ends by itself asks no person to act', () => {
  expect(sayTurn(paused(LATER).now)).toBe('No person has to act: it goes on by itself');
  expect(sayEstimate(paused(LATER))).toBe('Unknown until the queue goes on');
  expect(sayTurn(paused(null).now)).toBe('The next step is for a maintainer of the repository');
  expect(sayEstimate(paused(null))).toBe('Unknown until a person has acted');
});

test('the answer "Nothing" to the question for a step is not said of the cause', () => {
  expect(sayReason('conflict_ahead')).toBe(
    'Conflicts with a pull request ahead of it that is under way; its turn comes once that one is decided. The queue goes on by itself.',
  );
  expect(sayReason('conflict')).not.toContain('Nothing');
});

test('where every look fails, the page of a pull request promises no going on, and says what is wrong', async () => {
  const failing = givenActivity({
    queue: givenQueue('gate', {}, [placed(7, 'ready', null)]),
    last_reconcile_ok: false,
    last_reconcile_error_code: 'forge_access_denied',
    last_reconcile_error: 'The forge does not accept the stored token.',
  });
  mountPage({
    at: '/repos/repo/pulls/7',
    answers: {
      'GET /api/v1/me': { id: 'me' },
      'GET /api/v1/user/queue/status': { repos: [givenStatus()] },
      'GET /api/v1/user/queue/activity': givenFeed({ repos: [failing] }),
      'GET /api/v1/user/repos/repo/pulls/7': givenStory('ready', { in_queue: true, place: 1 }),
    },
  });
  const standing = await screen.findByRole('region', { name: 'Where it stands' });
  expect(standing.textContent).toContain('The queue itself: The forge does not accept the stored token.');
  expect(standing.textContent).not.toContain('goes on by itself');
  expect(standing.className).toContain('tone-stop');
  expect(within(standing).getByRole('link', { name: 'See the queue' }).getAttribute('href')).toBe(
    '/repos/repo',
  );
});

test.each([
  ['running', 'Batch', 'none yet'],
  ['invalidated', 'Last batch', 'none'],
] as const)(
  'of a batch that is %s a verdict is awaited only while one may come',
  async (outcome, name, verdict) => {
    const row = givenNode({ node_id: 'r', prs: [7], gate_verdict: 'none', outcome });
    const { run_id, node_id, gate_verdict, run_url, prs } = row;
    const batch = { run_id, node_id, tree: null, gate_verdict, run_url, prs };
    const story = givenStory('paused', { in_queue: true, place: 1, number: 7, batch, attempts: [row] });
    const { id } = givenStatus();
    mountPage({
      at: `/repos/${id}/pulls/7`,
      answers: {
        'GET /api/v1/me': { id: 'tenant' },
        'GET /api/v1/user/queue/status': { queue_name: 'mq', repos: [givenStatus()] },
        'GET /api/v1/user/queue/activity': givenFeed({ repos: [givenActivity({ repo_id: id })] }),
        [`GET /api/v1/user/repos/${id}/pulls/7`]: story,
      },
    });
    const facts = await screen.findByRole('region', { name: 'At a glance' });
    const told = [...facts.querySelectorAll('dt')].map((each) => [
      each.textContent,
      each.nextElementSibling?.textContent,
    ]);
    expect(told.find(([, text]) => text?.includes('#7'))?.[0]).toBe(name);
    expect(told.find(([label]) => label === 'Verdict')?.[1]).toBe(verdict);
  },
);
