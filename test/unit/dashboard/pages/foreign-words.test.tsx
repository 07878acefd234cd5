/** @jest-environment jsdom */
import { screen } from '@testing-library/react';
import { mountPage } from '../../../support/mount-page.tsx';
import {
  CONNECTION,
  givenActivity,
  givenFeed,
  givenFound,
  givenQueue,
  givenStatus,
  givenStory,
} from '../rows.ts';

const AT = '2026-11-21T10:00:00.000Z';
/** Words of a stranger: markup, and marks that turn or hide what stands around them. */
const WORDS = '<b>bold</b> \u202egnp.exe\u202c \u2067turned\u2069 \u200bhidden';
const SHOWN = '<b>bold</b> \ufffdgnp.exe\ufffd \ufffdturned\ufffd \ufffdhidden';

const PLACE = { head: 'c'.repeat(40), reason: null, queued_at: AT, until: null, priority: 'normal' };
const EVENT = {
  repo_id: 'repo',
  repo_slug: 'acme/app',
  instance_url: 'https://forge.example.org',
  pr: 7,
  title: WORDS,
  event: 'pr_landed',
  reason: null,
  timestamp: AT,
};
const QUEUE = {
  ...givenQueue('staging'),
  line: [{ ...PLACE, pr: 7, state: 'ready', title: WORDS }] as never,
};

test.each([
  ['overview', '/'],
  ['queue', '/repos/repo'],
  ['pull request', '/repos/repo/pulls/7'],
  ['choice of repositories', `/start?connection=${CONNECTION.id}`],
])('what a stranger wrote is plain text on the page: %s (A117)', async (_page, at) => {
  mountPage({
    at,
    answers: {
      'GET /api/v1/me': { id: 'tenant', is_admin: false },
      'GET /api/v1/user/queue/status': { queue_name: 'mq', repos: [givenStatus()] },
      'GET /api/v1/user/queue/activity': givenFeed({
        repos: [givenActivity({ queue: QUEUE })],
        recent_activity: [EVENT] as never,
      }),
      'GET /api/v1/user/repos/repo/pulls/7': givenStory(null, { title: WORDS }),
      'GET /api/v1/user/repos/repo/events': { events: [EVENT], next: null },
      'GET /api/v1/connections': [CONNECTION],
      [`POST /api/v1/connections/${CONNECTION.id}/discover`]: {
        repos: [givenFound('app', { default_branch: WORDS })],
      },
    },
  });
  expect((await screen.findAllByText(SHOWN)).length).toBeGreaterThan(0);
  expect(document.querySelector('b')).toBeNull();
  expect(`${document.title}${document.body.textContent}`).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u200b]/);
});
