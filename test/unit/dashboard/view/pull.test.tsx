/** @jest-environment jsdom */
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { PULL_CODES } from '../../../../core/domain/pulls/pull-code-table.ts';
import { findPulls, sayEstimate, sayTold, sayTurn, toneOfTold } from '../../../../dashboard/view/pull.ts';
import { mountPage } from '../../../support/mount-page.tsx';
import {
  givenAction,
  givenActivity,
  givenFeed,
  givenNode,
  givenQueue,
  givenStatus,
  givenStory,
  told,
} from '../rows.ts';

const AT = '2026-11-21T10:00:00.000Z';

const RECEIPT = {
  base_before: 'b'.repeat(40),
  head: 'c'.repeat(40),
  staged_sha: 'd'.repeat(40),
  gated_tree: null,
  own_run: false,
  scheduled_by: 'oncall',
  approved_by: ['ann', 'bob'],
  tree: 'e'.repeat(40),
  run_url: null,
  merge_commit: 'f'.repeat(40),
  landed_at: AT,
};

function answersOf(story: unknown, feed = givenFeed()) {
  return {
    'GET /api/v1/me': { id: 'me', is_admin: false },
    'GET /api/v1/user/queue/status': { repos: [givenStatus()] },
    'GET /api/v1/user/queue/activity': feed,
    'GET /api/v1/user/repos/repo/pulls/7': story,
  };
}

const STORY_PATH = '/repos/repo/pulls/7';

describe('the page of one pull request', () => {
  test('a change of the settings file is shown with what it would set', async () => {
    const story = givenStory('next_batch', { settings_file: 'bisect_fanout 1 -> 2' });
    mountPage({ at: STORY_PATH, answers: answersOf(story) });
    const region = await screen.findByRole('region', { name: 'Changes settings of the queue once it lands' });
    expect(region.textContent).toContain('bisect_fanout 1 -> 2');
  });

  test('a bounce says that it is not in the queue, why, whose turn it is and the next step, with its failing run', async () => {
    const run = 'https://forge.example.org/acme/app/actions/runs/7';
    const story = givenStory('gate_failed', {
      attempts: [givenNode({ id: 'a', prs: [7, 8], outcome: 'bounced', run_url: run })],
      history: [{ ...told('gate_failed'), timestamp: AT, event: 'pr_bounced', head: 'c'.repeat(40) }],
      batch: { run_id: 'run', node_id: 'r', tree: null, gate_verdict: 'failure', run_url: run, prs: [7, 8] },
    });
    const seen = givenActivity({ last_reconcile: new Date().toISOString() });
    mountPage({ at: STORY_PATH, answers: answersOf(story, givenFeed({ repos: [seen] })) });
    const standing = within(await screen.findByRole('region', { name: 'Where it stands' }));
    expect(standing.getByText('Bounced: not in the queue')).toBeTruthy();
    expect(standing.getByText('The gate fails with this pull request and passes without it.')).toBeTruthy();
    expect(standing.getByText(PULL_CODES.gate_failed.next)).toBeTruthy();
    expect(standing.getByRole('link', { name: /^Failing gate run of #/ }).getAttribute('href')).toBe(run);
    const facts = within(screen.getByRole('region', { name: 'At a glance' }));
    expect(facts.getByText('The next step is for its author')).toBeTruthy();
    expect(facts.queryByText('Time to land')).toBeNull();
    expect(facts.getByRole('link', { name: /^Open the gate run of #/ }).getAttribute('href')).toBe(run);
    expect(facts.getByRole('link', { name: '#8' }).getAttribute('href')).toBe('/repos/repo/pulls/8');
    expect(
      within(screen.getByRole('region', { name: 'What happened' })).getByText('Was bounced'),
    ).toBeTruthy();
    const attempts = within(screen.getByRole('region', { name: 'Attempts' }));
    expect(attempts.getByRole('link', { name: /Whole batch/ }).getAttribute('href')).toBe(
      '/repos/repo/batches/run?node=r',
    );
    expect(screen.getByRole('link', { name: 'On the forge' }).getAttribute('href')).toBe(
      'https://forge.example.org/acme/app/pulls/7',
    );
    expect(document.title).toMatch(/^#7, bounced: not in the queue/);
  });

  test('a landing shows its receipt, and no time to land', async () => {
    mountPage({ at: STORY_PATH, answers: answersOf(givenStory('landed', { receipts: [RECEIPT] })) });
    const receipts = within(await screen.findByRole('region', { name: 'Receipts' }));
    expect(receipts.getByText('f'.repeat(10))).toBeTruthy();
    expect(receipts.getByText('oncall')).toBeTruthy();
    expect(screen.queryByText('Time to land')).toBeNull();
  });

  test('a reason that this page does not know is unknown, not guessed', async () => {
    mountPage({ at: STORY_PATH, answers: answersOf(givenStory(null, { in_queue: true, title: null })) });
    const standing = within(await screen.findByRole('region', { name: 'Where it stands' }));
    expect(standing.getByText(/^Unknown: this page does not know the reason/)).toBeTruthy();
    expect(standing.getByText('In the queue, place unknown')).toBeTruthy();
    expect(screen.getByText(/^Unknown: this repository has landed too little/)).toBeTruthy();
  });

  test('a number that the queue never saw leads to the forge and back to the queue', async () => {
    mountPage({ at: '/repos/repo/pulls/9', answers: answersOf(givenStory('landed')) });
    expect(await screen.findByText('The queue knows nothing of #9')).toBeTruthy();
    expect(screen.getByRole('link', { name: '#9 on the forge' })).toBeTruthy();
  });

  test('what is no number is not asked about', async () => {
    const { sent } = mountPage({ at: '/repos/repo/pulls/07', answers: answersOf(givenStory('landed')) });
    expect(await screen.findByText('This is no number of a pull request')).toBeTruthy();
    expect(sent.filter(({ address }) => address.includes('/pulls/'))).toEqual([]);
  });
});

describe('the ways to the page of a pull request', () => {
  const place = (pr: number, title: string) => ({
    pr,
    title,
    head: 'c'.repeat(40),
    state: 'ready' as const,
    priority: 'normal' as const,
    reason: null,
    queued_at: AT,
    until: null,
  });
  const event = (pr: number) => ({
    repo_id: 'repo',
    repo_slug: 'acme/app',
    instance_url: 'https://forge.example.org',
    pr,
    event: 'pr_landed' as const,
    reason: null,
    title: 'Warn first',
    head: 'c',
    timestamp: AT,
  });
  const feed = givenFeed({
    repos: [givenActivity({ queue: givenQueue('gate', { pr: 7 }, [place(7, 'Round prices')]) })],
    recent_activity: [event(3)],
    queue_batches: [
      givenNode({
        prs: [4, 5],
        outcome: 'success',
        actions: [givenAction(4, 'landed', { receipt: RECEIPT })],
      }),
    ],
  });
  const ways = (pr: number) =>
    screen
      .getAllByRole('link', { name: `#${pr}` })
      .filter((link) => link.getAttribute('href') === `/repos/repo/pulls/${pr}`);

  test('stand in the queue, in the line that says what blocks, and at the newest events', async () => {
    const events = { events: [event(3)], next: null };
    const answers = {
      ...answersOf(givenStory('ready'), feed),
      'GET /api/v1/user/repos/repo/events': events,
    };
    mountPage({ at: '/repos/repo', answers });
    await screen.findByText('Warn first');
    expect([ways(7).length, ways(3).length]).toEqual([2, 1]);
  });

  // The page marks the moment at which a tree is drawn; this DOM has no such clock.
  beforeAll(() => void Object.assign(performance, { mark: () => undefined }));

  test('stand on a batch: in its title, its node, its members and its receipts', async () => {
    mountPage({ at: '/repos/repo/batches/run', answers: answersOf(givenStory('ready'), feed) });
    await screen.findByRole('region', { name: 'Receipts' });
    expect([ways(4).length, ways(5).length]).toEqual([4, 3]);
  });

  test('a word of a title finds it, and Enter opens it', async () => {
    mountPage({ at: '/repos/repo', answers: answersOf(givenStory('ready'), feed) });
    const box = await screen.findByLabelText('Find a pull request');
    fireEvent.change(box, { target: { value: 'nowhere' } });
    expect(screen.getByText(/^No title in the queue/)).toBeTruthy();
    fireEvent.change(box, { target: { value: 'PRICES' } });
    fireEvent.submit(box);
    await waitFor(() => expect(location.pathname).toBe('/repos/repo/pulls/7'));
  });

  test('a number finds itself first, also one that is not shown, then those that begin with it', () => {
    const [activity = givenActivity()] = feed.repos;
    const found = (text: string) => findPulls(text, activity, feed).map(({ pr }) => pr);
    expect([found('#12'), found('3'), found(' warn '), found('0'), found('')]).toEqual([
      [12],
      [3],
      [3],
      [],
      [],
    ]);
    const many = { ...feed, queue_batches: [givenNode({ prs: [41, 40] })] };
    expect(findPulls('4', activity, many).map(({ pr }) => pr)).toEqual([4, 41, 40]);
  });
});

describe('the words of a story', () => {
  const inQueue = (seconds: number) =>
    givenStory('staged', { in_queue: true, estimate: { seconds, error_seconds: 300, landings: 34 } });

  test('an estimate stands with its spread, and never promises less than nothing', () => {
    expect(sayEstimate(inQueue(720))).toBe(
      'About 12 min; four in five within 7 min to 17 min, by 34 landings of this repository',
    );
    expect(sayEstimate(inQueue(60))).toContain('within 0 s to 6 min');
    expect(sayEstimate(inQueue(0))).toContain('within 5 min of now');
  });

  test('while a person has to act the time is unknown, and says so', () => {
    expect(sayEstimate(givenStory('conflict', { in_queue: true }))).toBe('Unknown until a person has acted');
    expect(sayEstimate(givenStory('landed'))).toBeNull();
    const late = givenStory('not_admitted', { in_queue: true });
    expect(sayEstimate(late)).toMatch(
      /^Unknown: .* or this pull request has waited longer than nine in ten did$/,
    );
  });

  test('a reason of the owner is shown whole after the word that says the pause, with who holds the queue up and until when', () => {
    const words = 'paused: ship 2.1; then go on (by the owner of this queue, until 2026-11-23 00:14 UTC)';
    expect(sayTold({ ...told('paused'), words })).toBe(
      'Paused: ship 2.1; then go on (by the owner of this queue, until 2026-11-23 00:14 UTC)',
    );
    expect(sayTold(told('paused'))).toBe('The owner or a freeze window holds this queue up');
  });

  test('the colour and the turn follow the code: a person to act is a stop, an unknown code is unknown', () => {
    const codes = ['gate_failed', 'conflict', 'staged', 'landed', null] as const;
    expect(codes.map((code) => toneOfTold(told(code)))).toEqual(['stop', 'stop', 'busy', 'clear', 'unknown']);
    expect(codes.map((code) => sayTurn(told(code)))).toEqual([
      'The next step is for its author',
      'The next step is for its author',
      'The next step is for the CI',
      'Nothing is left to do',
      'Unknown',
    ]);
  });
});

test('the queue page tells those that wait for their turn from those that need a person', async () => {
  const place = (pr: number, state: 'ready' | 'waiting' | 'bounced', reason: string | null) => ({
    pr,
    title: `Change ${pr}`,
    priority: 'normal' as const,
    queued_at: AT,
    until: null,
    state,
    reason,
  });
  const line = [place(1, 'bounced', 'bounced'), place(2, 'waiting', 'conflict')];
  const waiting = [place(3, 'waiting', 'base_red'), place(4, 'ready', null), place(5, 'waiting', 'paused')];
  const queue = givenQueue('gate', {}, [...line, ...waiting]);
  mountPage({
    at: '/repos/repo',
    answers: answersOf(givenStory('landed'), givenFeed({ repos: [givenActivity({ queue })] })),
  });
  const numbersIn = async (name: string) =>
    within(await screen.findByRole('list', { name }))
      .getAllByRole('link')
      .map(({ textContent }) => textContent);
  expect(await numbersIn('Pull requests in order')).toEqual(['#3', '#4', '#5']);
  expect(await numbersIn('Pull requests that need a person')).toEqual(['#1', '#2']);
  // What was bounced is out of the queue.
  expect(screen.getAllByText(/^in the queue for/)).toHaveLength(4);
  // Where the queue has stopped, or its repository is archived, all keep their places.
  for (const reason of ['queue_stopped', 'archived']) {
    mountPage({
      at: '/repos/repo',
      answers: answersOf(
        givenStory('landed'),
        givenFeed({
          repos: [givenActivity({ queue: givenQueue('admission', {}, [place(6, 'waiting', reason)]) })],
        }),
      ),
    });
    expect(await numbersIn('Pull requests in order')).toEqual(['#6']);
  }
});
