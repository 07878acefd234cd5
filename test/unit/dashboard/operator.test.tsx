/** @jest-environment jsdom */
import { cleanup, fireEvent, screen, waitFor } from '@testing-library/react';
import { mountPage, Refusal } from '../../support/mount-page.tsx';
import { givenActivity, givenFeed, givenStatus } from './rows.ts';

const OPERATOR = { id: 'aaaaaaaa-0000-4000-8000-000000000001', is_admin: true };
const AT = '2026-11-21T10:00:00.000Z';

function found(repo: string, ok: boolean | null, gate = 'verified') {
  const { provisioning } = givenStatus();
  return {
    id: repo,
    repo,
    base_branch: 'main',
    instance_url: 'https://forge.example.org',
    tenant_id: 't',
    reconcile: { ok, ran_at: ok === null ? null : AT, error_code: ok === false ? 'forge_unreachable' : null },
    provisioning: { ...provisioning, ci_gate: { status: gate, url: null } },
    lease_state: 'idle',
  };
}

const HEALTH = {
  status: 'degraded',
  degraded_by: 'tick_freshness',
  signals: { tick_freshness: 'degraded', overdue_repo: 'ok', supersede_rate: 'unknown', phase_age: 'ok' },
};

function mountOperator(changes: Readonly<Record<string, unknown>> = {}, at = '/admin/repos') {
  const repos = [
    found('acme/broken', false),
    found('acme/new', null, 'setup_pr_open'),
    found('acme/unset', true, 'missing'),
    found('acme/fine', true),
  ];
  return mountPage({
    at,
    answers: {
      'GET /api/v1/me': OPERATOR,
      'GET /api/queue-health': HEALTH,
      'GET /api/v1/admin/repos': { repos, limit: 50, offset: 0, total: repos.length, order: 'trouble' },
      ...changes,
    },
  });
}

test('the order of the service is shown and said: trouble first, or names where they are too many', async () => {
  mountOperator();
  await screen.findByText('4 repositories, those in trouble first');
  expect(screen.getAllByRole('rowheader').map(({ textContent }) => textContent)).toEqual([
    'acme/broken main',
    'acme/new main',
    'acme/unset main',
    'acme/fine main',
  ]);
  // In the words of the setup page, not in those of the API.
  const gates = screen.getAllByRole('row').flatMap((row) => row.querySelector('[data-label=Gate]') ?? []);
  expect(gates.map(({ textContent }) => textContent)).toEqual([
    'Verified',
    'Setup is open',
    'Missing',
    'Verified',
  ]);
  cleanup();
  const many = { repos: [found('acme/fine', true)], limit: 50, offset: 0, total: 501, order: 'name' };
  mountOperator({ 'GET /api/v1/admin/repos': many });
  await screen.findByText(
    '501 repositories, by name; a search that finds fewer shows those in trouble first',
  );
});

test('schedule, looks and batches of the service are told, and what is not known is unknown', async () => {
  mountOperator();
  await screen.findByText('the five-minute timer is late');
  const facts = screen.getByRole('region', { name: 'The service' }).textContent;
  expect(facts).toContain('Five-minute timerthe five-minute timer is late');
  expect(facts).toContain('Looks at repositoriesin order');
  expect(facts).toContain('Repeated workunknown');
});

test('the engine is asked when a person asks, and not before', async () => {
  const { sent } = mountOperator({ 'GET /api/container-health': { ok: true } });
  const ask = await screen.findByRole('button', { name: 'Ask the engine' });
  expect(screen.getByText('not asked')).toBeTruthy();
  expect(sent.filter(({ address }) => address.includes('container-health'))).toEqual([]);
  fireEvent.click(ask);
  await screen.findByText('it answered');
});

test('an engine that does not answer is no engine that answered', async () => {
  const silent = new Refusal(503, { ok: false, dependency: 'engine' });
  mountOperator({ 'GET /api/container-health': silent });
  fireEvent.click(await screen.findByRole('button', { name: 'Ask the engine' }));
  await screen.findByText('it did not answer');
  expect(screen.queryByText('it answered')).toBeNull();
});

test('the tab of a queue that is stopped says so, by its title and its icon', async () => {
  const icon = document.createElement('link');
  icon.rel = 'icon';
  document.head.append(icon);
  const failed = givenActivity({
    last_reconcile_error_code: 'forge_access_denied',
    last_reconcile_ok: false,
  });
  mountPage({
    at: '/repos/repo',
    answers: {
      'GET /api/v1/me': OPERATOR,
      'GET /api/v1/user/queue/status': { repos: [givenStatus()] },
      'GET /api/v1/user/queue/activity': { ...givenFeed(), repos: [failed] },
    },
  });
  await waitFor(() => expect(document.title).toMatch(/^Stopped: acme\/app on /));
  expect(icon.getAttribute('href')).toBe('/favicon-stop.svg');
});

test.each(['/repos/repo', '/account', '/connections'])('an overdue payment is told on %s', async (at) => {
  mountPage({
    at,
    answers: {
      'GET /api/v1/me': OPERATOR,
      'GET /api/v1/user/queue/status': { repos: [givenStatus({ hold_reason: 'payment_required' })] },
      'GET /api/v1/user/queue/activity': givenFeed(),
    },
  });
  const told = await screen.findByText(/^A payment is overdue: nothing lands in 1 repository/);
  expect(told.querySelector('a')?.getAttribute('href')).toBe('/billing');
});

test('the engine of a repository is told in words', async () => {
  const repos = ['idle', 'held', 'unknown'].map((state) => ({
    ...found(`acme/${state}`, true),
    lease_state: state,
  }));
  mountOperator({
    'GET /api/v1/admin/repos': { repos, limit: 50, offset: 0, total: 3, order: 'trouble' },
  });
  await screen.findByText('acme/held');
  const cells = screen
    .getAllByRole('row')
    .map((row) => row.querySelector('[data-label=Engine]')?.textContent);
  expect(cells).toEqual([undefined, 'at rest', 'looks at the forge now', 'unknown']);
});

test('an address with a search that is too long leads to all repositories', async () => {
  const refusal = { code: 'invalid_field', message: 'A field has a value that is not allowed.', field: 'q' };
  mountOperator(
    { 'GET /api/v1/admin/repos': new Refusal(400, { error: refusal }) },
    `/admin/repos?q=${'x'.repeat(201)}`,
  );
  await screen.findByText('The search in the address is too long.');
  expect(screen.getByRole('link', { name: 'All repositories' }).getAttribute('href')).toBe('/admin/repos');
});

test.each(['-5', '1.5', '1e21', 'x'])(
  'an address with the page %s begins with the first one',
  async (offset) => {
    const { sent } = mountOperator({}, `/admin/repos?offset=${offset}`);
    await screen.findByText('4 repositories, those in trouble first');
    expect(sent.map(({ address }) => address)).toContain('GET /api/v1/admin/repos?q=&offset=0&limit=50');
  },
);

test('a page behind the last one says so, and leads back to the last one', async () => {
  const none = { repos: [], limit: 50, offset: 500, total: 60, order: 'trouble' };
  mountOperator({ 'GET /api/v1/admin/repos': none }, '/admin/repos?offset=500');
  await screen.findByText('The list ends before this page');
  expect(screen.getByRole('link', { name: 'Previous' }).getAttribute('href')).toBe('/admin/repos?offset=10');
});
