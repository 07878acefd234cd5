import type { BranchProtection } from '#core/domain/forge/forge.ts';
import { UNPROVISIONED, type WebhookObservation } from '#core/domain/set-up/provisioning.ts';
import { checkSetUp, type SetUpFacts } from '#core/domain/set-up/set-up-checks.ts';
import type { HeardEvents } from '#core/domain/wakes/heard-events.ts';

const RULE: BranchProtection = {
  scope: 'full',
  ruleName: 'main',
  statusCheckEnabled: true,
  requiredContexts: ['ci', 'mq'],
  requiredApprovals: 0,
  blockOnRejectedReviews: false,
  blockOnOfficialReviewRequests: false,
  blockOnOutdatedBranch: false,
  ignoreStaleApprovals: false,
  dismissStaleApprovals: false,
  directPushAllowed: false,
};
const REPO = {
  baseBranch: 'main',
  statusContext: 'mq',
  wakeupMode: 'poll' as const,
  provisioning: UNPROVISIONED.provisioning,
};
const statesOf = (changes: Partial<SetUpFacts>) =>
  checkSetUp({ repo: REPO, queueName: 'mq', rule: RULE, ownBranches: 'free', ...changes })
    .map(({ state }) => state)
    .join(' ');
const hooked = (webhook: WebhookObservation, heard: HeardEvents = {}) => ({
  repo: {
    ...REPO,
    heard,
    wakeupMode: 'webhook' as const,
    provisioning: { ...UNPROVISIONED.provisioning, webhook },
  },
});

test.each<readonly [string, Partial<SetUpFacts>, string]>([
  ['all stands', {}, 'ok ok ok ok ok'],
  ['no rule governs the base', { rule: null }, 'missing ok ok missing ok'],
  [
    'no rule could be read',
    { rule: 'unknown', ownBranches: 'unknown' },
    'unknown unknown unknown unknown ok',
  ],
  ['the status check is off', { rule: { ...RULE, statusCheckEnabled: false } }, 'missing ok ok ok ok'],
  ['another check is asked for', { rule: { ...RULE, requiredContexts: ['ci'] } }, 'missing ok ok ok ok'],
  ['every status is asked for', { rule: { ...RULE, requiredContexts: [] } }, 'missing missing ok ok ok'],
  ['a pattern matches too', { rule: { ...RULE, requiredContexts: ['m*', 'mq'] } }, 'ok missing ok ok ok'],
  ['only a pattern matches', { rule: { ...RULE, requiredContexts: ['*'] } }, 'missing missing ok ok ok'],
  ['a rule covers the branches of the queue', { ownBranches: 'ruled' }, 'ok ok missing ok ok'],
  ['people push directly', { rule: { ...RULE, directPushAllowed: true } }, 'ok ok ok missing ok'],
  ['people may bypass it', { rule: { ...RULE, bypassAllowed: true } }, 'ok ok ok missing ok'],
  ['some files are pushed past it', { rule: { ...RULE, filesPushable: true } }, 'ok ok ok missing ok'],
  [
    'outdated branches are blocked',
    { rule: { ...RULE, blockOnOutdatedBranch: true } },
    'ok ok ok missing ok',
  ],
  ['the bot sees a summary', { rule: { ...RULE, scope: 'summary' } }, 'ok ok ok unknown ok'],
  ['a webhook is registered, and no delivery was seen', hooked('registered'), 'ok ok ok ok unknown'],
  ['deliveries of a webhook arrive', hooked('registered', { delivery: 1 }), 'ok ok ok ok ok'],
  ['an older version noted an event of a gate', hooked('registered', { run: 1 }), 'ok ok ok ok ok'],
  ['the forge refused the webhook', hooked('denied'), 'ok ok ok ok missing'],
  ['the webhook had no answer', hooked('failed'), 'ok ok ok ok unknown'],
  ['the webhook was not tried', hooked('not_tried'), 'ok ok ok ok unknown'],
])('set-up checks where %s', (_name, facts, states) => {
  expect(statesOf(facts)).toBe(states);
});

test('a webhook of which no delivery was seen has the setting of the forge as its fix', () => {
  const fixOf = (webhook: WebhookObservation) =>
    checkSetUp({ ...hooked(webhook), queueName: 'mq', rule: RULE, ownBranches: 'free' }).at(-1)?.fix;
  expect(fixOf('registered')).toMatch(/recent deliveries.* ALLOWED_HOST_LIST under \[webhook\]/);
  expect(fixOf('failed')).toMatch(/not registered yet/);
});

test('a check that is ok has no fix; another says what to do, and a summary is never taken for a setting', () => {
  const checks = checkSetUp({
    repo: REPO,
    queueName: 'mq',
    rule: { ...RULE, scope: 'summary' },
    ownBranches: 'ruled',
  });
  for (const { state, fix } of checks) expect(fix === null).toBe(state === 'ok');
  expect(checks.find(({ check }) => check === 'own_branches_free')?.fix).toContain('"mq/" and "mq-work/"');
  expect(checks.find(({ check }) => check === 'no_way_past')?.fix).toMatch(/may not read/);
});
