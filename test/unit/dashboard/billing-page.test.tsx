/** @jest-environment jsdom */
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { CONNECTIONS_PER_TENANT_MAX, REPOS_PER_TENANT_MAX } from '../../../core/domain/api-limits.ts';
import { PLAN_LIMITS } from '../../../core/domain/tenants/billing.ts';
import { mountPage } from '../../support/mount-page.tsx';

/** The page of a tenant without repositories in a queue, and without known prices. */
function mountBilling(billing: object, answers: Readonly<Record<string, unknown>> = {}) {
  return mountPage({
    at: '/billing',
    answers: {
      'GET /api/v1/me': { id: 'aaaaaaaa-0000-4000-8000-000000000001', is_admin: false },
      'GET /api/v1/user/queue/status': { repos: [] },
      'GET /api/v1/billing/plans': { plans: [] },
      'GET /api/v1/billing/me': billing,
      ...answers,
    },
  });
}

test.each([
  ['pro', ['of 10 included', 'At most 50 on this plan.', 'of 3 included', 'At most 10 on this plan.']],
  [
    'team',
    [
      'of 50 included',
      `At most ${REPOS_PER_TENANT_MAX}, whatever the plan.`,
      'of 10 included',
      `At most ${CONNECTIONS_PER_TENANT_MAX}, whatever the plan.`,
    ],
  ],
] as const)('the page of the plan %s says what it includes and where it ends', async (tier, words) => {
  mountBilling({
    tier,
    entitled_tier: tier,
    status: 'active',
    payment_action_required: false,
    connections: 2,
    repos: 7,
    limits: PLAN_LIMITS[tier],
  });
  const plan = await screen.findByRole('region', { name: /Your plan/ });
  const said = plan.textContent ?? '';
  expect(words.filter((word) => !said.includes(word))).toEqual([]);
  expect(said).not.toMatch(/unlimited|No ceiling/);
});

test('while a payment is open, the limits that hold are not told as those of the plan that was bought', async () => {
  mountBilling({
    tier: 'pro',
    entitled_tier: 'free',
    status: 'past_due',
    payment_action_required: true,
    connections: 1,
    repos: 3,
    limits: PLAN_LIMITS.free,
  });
  const plan = await screen.findByRole('region', { name: 'Your plan: pro' });
  expect(plan.textContent).toContain('At most 1 until the payment is settled.');
  expect(plan.textContent).not.toContain('on this plan');
  expect(screen.getByText('Its limits hold now').closest('li')?.textContent).toContain('Free');
  expect(screen.queryByText('Your plan')).toBeNull();
});

/** The page in this test has no dialogs of a browser. */
function givenDialogs(): void {
  HTMLDialogElement.prototype.showModal = function showModal() {
    this.open = true;
  };
  HTMLDialogElement.prototype.close = function close() {
    this.open = false;
    this.dispatchEvent(new Event('close'));
  };
}

test('a change of plan is charged after a question, not by one click', async () => {
  givenDialogs();
  const { sent } = mountBilling(
    {
      tier: 'pro',
      entitled_tier: 'pro',
      status: 'active',
      payment_action_required: false,
      connections: 1,
      repos: 3,
      limits: PLAN_LIMITS.pro,
    },
    { 'POST /api/v1/billing/change-plan': { tier: 'team' } },
  );
  const changes = () =>
    sent.filter(({ address }) => address.endsWith('/change-plan')).map(({ body }) => body);
  fireEvent.click(await screen.findByRole('button', { name: 'Change to Team' }));
  const question = within(await screen.findByRole('dialog'));
  expect(question.getByText(/is charged at once/)).toBeDefined();
  expect(changes()).toEqual([]);
  fireEvent.click(question.getByRole('button', { name: 'Stay on the plan' }));
  expect(changes()).toEqual([]);
  fireEvent.click(screen.getByRole('button', { name: 'Change to Team' }));
  fireEvent.click(within(await screen.findByRole('dialog')).getByRole('button', { name: 'Change the plan' }));
  await waitFor(() => expect(changes()).toEqual([{ tier: 'team' }]));
});
