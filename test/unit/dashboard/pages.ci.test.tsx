/** @jest-environment jsdom */
import { cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { showFullTime } from '../../../dashboard/view/format.ts';
import { mountPage, Refusal } from '../../support/mount-page.tsx';
import { givenActivity, givenFeed, givenNode, givenQueue, givenStatus } from './rows.ts';

const ME = { id: 'aaaaaaaa-0000-4000-8000-000000000001', is_admin: false };
const AT = '2026-11-21T10:00:00.000Z';

function answersOf(changes: Readonly<Record<string, unknown>> = {}) {
  return {
    'GET /api/v1/me': ME,
    'GET /api/v1/user/queue/status': { repos: [givenStatus()] },
    'GET /api/v1/user/queue/activity': givenFeed(),
    ...changes,
  };
}

test('a gate by statuses is chosen from what answered on the probe', async () => {
  const repo = { ...givenStatus(), gate: 'statuses' as const };
  const probe = {
    sha: 'a'.repeat(40),
    state: 'pending',
    contexts: [
      { context: 'ci/build', author: 'ci-bot', state: 'success' },
      { context: 'ci/lint', author: 'mallory', state: 'success' },
    ],
  };
  const page = mountPage({
    at: `/repos/${repo.id}/setup`,
    answers: answersOf({
      'GET /api/v1/user/queue/status': { repos: [repo] },
      [`POST /api/v1/user/repos/${repo.id}/ci-gate/verify`]: {
        ci_gate: { status: 'awaiting_validation', url: null, probe },
        checks: [],
      },
      [`PATCH /api/v1/user/repos/${repo.id}`]: repo,
    }),
  });
  fireEvent.click(await screen.findByRole('button', { name: 'Look which contexts answer' }));
  fireEvent.click(await screen.findByRole('checkbox', { name: /ci\/build by ci-bot/ }));
  fireEvent.click(screen.getByRole('button', { name: 'Use the chosen contexts' }));
  await waitFor(() =>
    expect(page.sent.find(({ address }) => address.startsWith('PATCH'))?.body).toEqual({
      gate_contexts: ['ci/build'],
      gate_authors: ['ci-bot'],
    }),
  );
});

test('the five things on the forge are listed as a verify call read them, each with its fix', async () => {
  const repo = givenStatus();
  const check = (name: string, state: string, fix: string | null) => ({
    check: name,
    state,
    says: `It stands: ${name}.`,
    fix,
  });
  mountPage({
    at: `/repos/${repo.id}/setup`,
    answers: answersOf({
      'GET /api/v1/user/queue/status': { repos: [repo] },
      [`POST /api/v1/user/repos/${repo.id}/ci-gate/verify`]: {
        ci_gate: { status: 'verified', url: null, probe: { sha: 'a'.repeat(40), state: 'success' } },
        checks: [
          check('required_check', 'ok', null),
          check('no_foreign_pattern', 'missing', 'Name each check.'),
          check('no_way_past', 'unknown', 'Look on the forge.'),
        ],
      },
    }),
  });
  fireEvent.click(await screen.findByRole('button', { name: 'Verify the gate and these settings' }));
  const list = within(await screen.findByRole('list', { name: 'Settings on the forge' }));
  const items = (await list.findAllByRole('listitem')).map((item) => item.textContent);
  expect(items).toEqual([
    'It stands: required_check. Ok',
    'It stands: no_foreign_pattern. MissingName each check.',
    'It stands: no_way_past. Not knownLook on the forge.',
  ]);
});

test('without the gate file the missing file is the first of them, and the others are shown all the same', async () => {
  const repo = givenStatus();
  const checks = [
    { check: 'gate_file', state: 'missing', says: 'There is a gate.', fix: 'Merge the set-up pull request.' },
    { check: 'required_check', state: 'ok', says: 'The rule asks for it.', fix: null },
  ];
  mountPage({
    at: `/repos/${repo.id}/setup`,
    answers: answersOf({
      'GET /api/v1/user/queue/status': { repos: [repo] },
      [`POST /api/v1/user/repos/${repo.id}/ci-gate/verify`]: new Refusal(409, {
        error: { code: 'ci_gate_missing', message: 'No file.', checks },
      }),
    }),
  });
  fireEvent.click(await screen.findByRole('button', { name: 'Verify the gate and these settings' }));
  const list = within(await screen.findByRole('list', { name: 'Settings on the forge' }));
  expect((await list.findAllByRole('listitem')).map((item) => item.textContent)).toEqual([
    'There is a gate. MissingMerge the set-up pull request.',
    'The rule asks for it. Ok',
  ]);
});

describe('the audit log on the account page', () => {
  const note = (nth: number) => ({
    id: `note-${nth}`,
    at: AT,
    actor: ME.id,
    from: '198.51.100.7',
    action: 'repo.update',
    target: `repo-${nth}`,
    result: 'ok',
  });
  const show = async (notes: readonly unknown[], isCut = false) => {
    const page = mountPage({
      at: '/account',
      answers: answersOf({
        'GET /api/v1/tenant/export': { tenant: { id: ME.id }, audit_log: notes, audit_log_truncated: isCut },
      }),
    });
    const log = within(await screen.findByRole('region', { name: 'Audit log' }));
    expect(page.sent.map(({ address }) => address)).not.toContain('GET /api/v1/tenant/export');
    fireEvent.click(log.getByRole('button', { name: 'Show the newest changes' }));
    return log;
  };

  test('is read when it is asked for, and says when, what, on what, by whom, from where and how it ended', async () => {
    const log = await show([{ ...note(1), action: 'repo.protect', result: 'failed' }]);
    const row = within(await log.findByRole('row', { name: /repo\.protect/ }));
    expect(row.getAllByRole('cell').map((cell) => cell.textContent)).toEqual([
      showFullTime(AT),
      'repo-1',
      ME.id,
      '198.51.100.7',
      'failed',
    ]);
    // On a phone the head of the table is not seen, and two of these are ids.
    expect(row.getAllByRole('cell').map((cell) => cell.dataset.label)).toEqual([
      'When',
      'Of',
      'By',
      'From',
      'Result',
    ]);
  });

  test('shows the newest 50 of more, and says that the export has them all', async () => {
    const log = await show(Array.from({ length: 60 }, (_, nth) => note(nth)));
    expect(await log.findAllByRole('row')).toHaveLength(51);
    expect(log.getByText('The newest 50 of 60; the export has them all.')).toBeTruthy();
  });

  test('says that older ones are not in the export where it has the newest alone', async () => {
    const log = await show(
      Array.from({ length: 60 }, (_, nth) => note(nth)),
      true,
    );
    expect(
      await log.findByText('The newest 50; the export has the newest 60, and not the older ones.'),
    ).toBeTruthy();
  });

  test('with nothing in it says so', async () => {
    expect(await (await show([])).findByText('Nothing was changed yet.')).toBeTruthy();
  });
});

test.each([
  ['Forgejo 17.0.0', false, 1],
  ['Forgejo 15.0.3', true, 0],
])(
  'a connection to %s says so, and where that was never seen that it is one of those',
  async (version, seen, notices) => {
    mountPage({
      at: '/connections',
      answers: answersOf({
        'GET /api/v1/connections': [
          {
            id: 'connection',
            instance_url: 'https://forge.example.org',
            bot_username: 'mq-bot',
            tenant_id: 'tenant',
            token_type: 'pat',
            created_at: AT,
          },
        ],
        'GET /api/v1/user/queue/status': {
          queue_name: 'mq',
          repos: [givenStatus({ forge: { version, seen } })],
        },
      }),
    });
    expect(await screen.findByText(new RegExp(version))).toBeTruthy();
    expect(screen.queryAllByText(/has not been run against/)).toHaveLength(notices);
  },
);

describe('the login of the bot', () => {
  const connection = {
    id: 'connection',
    forge_type: 'forgejo',
    instance_url: 'https://forge.example.org',
    bot_username: 'mq-bot',
    token_type: 'pat',
    created_at: AT,
    updated_at: AT,
  };
  const open = async (changes: Readonly<Record<string, unknown>> = {}) => {
    const page = mountPage({
      at: '/connections',
      answers: answersOf({ 'GET /api/v1/connections': [connection], ...changes }),
    });
    fireEvent.click(await screen.findByRole('button', { name: 'Token and login' }));
    return page;
  };
  const patches = ({ sent }: Awaited<ReturnType<typeof open>>) =>
    sent.filter(({ address }) => address.startsWith('PATCH')).map(({ body }) => body);

  test('is changed alone: the stored token is left as it is', async () => {
    const page = await open({
      'PATCH /api/v1/connections/connection': { ...connection, bot_username: 'new' },
    });
    const store = screen.getByRole('button', { name: 'Store' });
    expect(store.hasAttribute('disabled')).toBe(true);
    fireEvent.change(screen.getByLabelText('Login of the bot'), { target: { value: ' new-bot ' } });
    fireEvent.click(store);
    await waitFor(() => expect(patches(page)).toEqual([{ bot_login: 'new-bot' }]));
    await waitFor(() => expect(screen.queryByLabelText('Login of the bot')).toBeNull());
  });

  test('is changed together with the token of another bot, in one request', async () => {
    const page = await open({ 'PATCH /api/v1/connections/connection': connection });
    fireEvent.change(screen.getByLabelText('New access token'), { target: { value: 'next-token' } });
    fireEvent.change(screen.getByLabelText('Login of the bot'), { target: { value: 'new-bot' } });
    fireEvent.click(screen.getByRole('button', { name: 'Store' }));
    await waitFor(() => expect(patches(page)).toEqual([{ token: 'next-token', bot_login: 'new-bot' }]));
  });

  test('stays in the form with the reason when the forge says that the token is not that bot’s', async () => {
    const error = { code: 'invalid_field', message: 'A field is not allowed.', field: 'bot_login' };
    const page = await open({
      'PATCH /api/v1/connections/connection': new Refusal(400, { error }),
    });
    fireEvent.change(screen.getByLabelText('Login of the bot'), { target: { value: 'stranger' } });
    fireEvent.click(screen.getByRole('button', { name: 'Store' }));
    expect(await screen.findByText(/The token belongs to another login/)).toBeTruthy();
    expect(patches(page)).toEqual([{ bot_login: 'stranger' }]);
    expect((screen.getByLabelText('Login of the bot') as HTMLInputElement).value).toBe('stranger');
  });
});

describe('the page of a queue', () => {
  const gate = async (changes: Parameters<typeof givenActivity>[0]) => {
    const answers = answersOf({
      'GET /api/v1/user/queue/activity': givenFeed({ repos: [givenActivity(changes)] }),
    });
    mountPage({ at: '/repos/repo', answers });
    return within(await screen.findByRole('region', { name: 'The gate' }));
  };

  test('shows what CI said last with a link to the run, the staging branch and the last good look', async () => {
    const run = 'https://forge.example.org/acme/app/actions/runs/7';
    const panel = await gate({ ci_status: 'failing', ci_url: run, staging_branch: 'mq/main/staging' });
    expect(panel.getByRole('link', { name: 'Open the gate run' }).getAttribute('href')).toBe(run);
    expect(panel.getByText('mq/main/staging')).toBeTruthy();
    expect(panel.getByText('Failing')).toBeTruthy();
    expect(panel.getByTitle(showFullTime(AT))).toBeTruthy();
  });

  test('does not say that no batch runs where one runs that is older than what it has', async () => {
    const running = async (changes: Parameters<typeof givenActivity>[0]) => {
      await gate(changes);
      const { textContent } = screen.getByRole('region', { name: 'Running now' });
      cleanup();
      return textContent;
    };
    expect(await running({ batch: [{ pr: 7 }, { pr: 8 }] })).toContain('Running with #7 and #8: older than');
    expect(await running({ state: 'unknown' })).toContain('Unknown.');
    expect(await running({})).toContain('No batch is running.');
  });

  test('claims neither a run nor a look that was not seen', async () => {
    const panel = await gate({ ci_status: 'none', ci_url: null, last_good_reconcile: null });
    expect(panel.queryByRole('link')).toBeNull();
    expect([panel.getByText('none seen'), panel.getByText('none yet')]).toHaveLength(2);
  });
});

test('a queue that could not be read says by itself that it is looked at', async () => {
  const [held, unknown] = (['held', 'unknown'] as const).map((lease_state) =>
    givenFeed({ repos: [givenActivity({ queue: null, lease_state })] }),
  );
  mountPage({ at: '/repos/repo', answers: answersOf({ 'GET /api/v1/user/queue/activity': held }) });
  await screen.findByText('The queue is looking at the forge now');
  mountPage({ at: '/repos/repo', answers: answersOf({ 'GET /api/v1/user/queue/activity': unknown }) });
  await screen.findByText('Whether it is looking now is unknown');
});

test('a look that was asked for tells its age, for as long as the page is open', async () => {
  const ran_at = new Date(Date.now() - 3 * 60_000).toISOString();
  mountPage({
    at: '/repos/repo',
    answers: answersOf({
      'POST /api/v1/user/repos/repo/reconcile': {
        reconcile: { ran_at, ok: true, error: null },
        log_tail: [],
      },
    }),
  });
  const panel = within(await screen.findByRole('region', { name: 'Look at the forge now' }));
  fireEvent.click(panel.getByRole('button'));
  expect((await panel.findByRole('status')).textContent).toBe('Looked at 3 min ago.');
});

test('what a week has superseded is counted in parts of batches, and unknown is no number', async () => {
  const { stats } = givenFeed();
  const show = (changes: Partial<typeof stats>) =>
    mountPage({
      at: '/statistics',
      answers: answersOf({
        'GET /api/v1/user/queue/activity': { ...givenFeed(), stats: { ...stats, ...changes } },
      }),
    });
  show({ week_batches: 9, week_superseded: 1, restage_rate: 11.1 });
  const figure = await screen.findByRole('region', { name: 'Superseded parts of batches' });
  expect(figure.textContent).toContain('1 of 9 parts: the result of another gate run decided');
  expect(document.body.textContent).toContain('The figures below begin 168 hours ago');
  show({ week_batches: null, week_superseded: null, restage_rate: null, week_bounces: null });
  const unknown = await screen.findByRole('region', { name: 'Superseded parts of batches' });
  expect(unknown.textContent).not.toContain('of Unknown');
  expect(document.body.textContent).toContain('how many were bounced is unknown');
});

test('the overview counts a bounced pull request beside the queue, not in it', async () => {
  const place = { title: 'x', head: 'c'.repeat(40), reason: null, queued_at: AT, until: null };
  const line = ['ready', 'bounced'].map((state, index) => ({ ...place, pr: index + 1, state }));
  const queue = { ...givenQueue('staging'), line: line as never };
  const answers = answersOf({
    'GET /api/v1/user/queue/activity': givenFeed({ repos: [givenActivity({ queue })] }),
  });
  mountPage({ at: '/', answers });
  expect(await screen.findByText('1 pull request in the queue; 1 bounced')).toBeTruthy();
});

test('two repositories of one name on two forges are told apart on the overview', async () => {
  const other = { id: 'other', instance_url: 'https://gitea.example.org' };
  const answers = answersOf({
    'GET /api/v1/user/queue/status': { repos: [givenStatus(), givenStatus(other)] },
    'GET /api/v1/user/queue/activity': givenFeed({
      repos: [givenActivity(), givenActivity({ repo_id: 'other', instance_url: other.instance_url })],
    }),
  });
  mountPage({ at: '/', answers });
  const links = await screen.findAllByRole('link', { name: /acme\/app/ });
  const near = links.map((link) => link.closest('li, tr, article')?.textContent ?? '');
  for (const host of ['forge.example.org', 'gitea.example.org'])
    expect(near.filter((text) => text.includes(host))).not.toEqual([]);
});

test('batches beyond the newest 200 are reached by a link, and the newest again from there', async () => {
  const node = givenNode({ outcome: 'success', phase: null });
  const answers = answersOf({
    'GET /api/v1/user/queue/activity': givenFeed({ queue_batches: [node], queue_batches_next: 'older' }),
    'GET /api/v1/user/queue/activity?before=older': givenFeed({ queue_batches: [node] }),
  });
  const { sent } = mountPage({ at: '/repos/repo/batches', answers });
  fireEvent.click(await screen.findByRole('link', { name: 'Older batches' }));
  const back = await screen.findByRole('link', { name: 'Newest batches' });
  expect(location.search).toBe('?before=older');
  expect(sent.map(({ address }) => address)).toContain('GET /api/v1/user/queue/activity?before=older');
  expect(screen.queryByRole('link', { name: 'Older batches' })).toBeNull();
  fireEvent.click(back);
  await waitFor(() => expect(location.search).toBe(''));
});

test('the settings page shows who is told of a bounce in the masked form of the service', async () => {
  const chats = { chat_a_webhook_url: null, chat_b_webhook_url: null, matrix: null, webhook: null };
  const repos = [
    givenActivity({ notification: { email: 'a…@example.org', email_state: 'confirmed', ...chats } }),
  ];
  mountPage({
    at: '/repos/repo/settings',
    answers: answersOf({ 'GET /api/v1/user/queue/activity': givenFeed({ repos }) }),
  });
  const title = await screen.findByRole('heading', { name: 'Places that notices go to' });
  expect(title.closest('form')?.textContent).toContain('Now told: a…@example.org.');
});

test('the settings page says whether the address is confirmed, and asks its reader once more', async () => {
  const chats = { chat_a_webhook_url: null, chat_b_webhook_url: null, matrix: null, webhook: null };
  const shown = { email: 'a…@example.org', email_state: 'waiting', ...chats } as const;
  const { sent } = mountPage({
    at: '/repos/repo/settings',
    answers: {
      ...answersOf({
        'GET /api/v1/user/queue/activity': givenFeed({ repos: [givenActivity({ notification: shown })] }),
      }),
      'POST /api/v1/user/repos/repo/notification/confirm': { email_state: 'waiting' },
    },
  });
  await screen.findByText(/waits for its reader to confirm/);
  fireEvent.click(screen.getByRole('button', { name: 'Send the confirmation mail again' }));
  await screen.findByText('A confirmation mail is on its way.');
  expect(sent.filter(({ address }) => address.endsWith('/notification/confirm'))).toHaveLength(1);
});

describe('the sign-in form', () => {
  const TOKEN = 'POST https://id.example.org/auth/v1/token?grant_type=password';
  const signIn = async (answers: Readonly<Record<string, unknown>>) => {
    const page = mountPage({ at: '/sign-in?back=%2Fbilling', session: null, answers });
    const button = await screen.findByRole('button', { name: 'Sign in' });
    expect(button.hasAttribute('disabled')).toBe(true);
    fireEvent.change(screen.getByLabelText('E-mail'), { target: { value: 'ada@example.org' } });
    fireEvent.change(screen.getByLabelText('Password'), { target: { value: 'right' } });
    fireEvent.click(button);
    return page;
  };

  test('asks the identity provider alone, and goes on where one came from', async () => {
    const { sent } = await signIn({
      [TOKEN]: {
        access_token: 'a.b.c',
        refresh_token: 'r',
        expires_in: 3600,
        user: { email: 'ada@example.org' },
      },
    });
    await waitFor(() => expect(location.pathname).toBe('/billing'));
    expect(sent).toContainEqual({ address: TOKEN, body: { email: 'ada@example.org', password: 'right' } });
    expect(sent.filter(({ body }) => JSON.stringify(body)?.includes('right'))).toHaveLength(1);
    await waitFor(() => expect(sent.map(({ address }) => address)).toContain('GET /api/v1/billing/me'));
  });

  test.each<[number, RegExp]>([
    [400, /wrong e-mail or password/],
    [429, /Too many tries/],
    [503, /did not answer/],
  ])('a refusal with %i is said in words, and the form stays', async (status, words) => {
    await signIn({ [TOKEN]: status });
    expect((await screen.findByRole('alert')).textContent).toMatch(words);
    expect((screen.getByLabelText('E-mail') as HTMLInputElement).value).toBe('ada@example.org');
    expect(screen.getByRole('button', { name: 'Sign in' }).hasAttribute('disabled')).toBe(false);
  });
});
