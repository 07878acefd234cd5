import { createHash } from 'node:crypto';
import { ERROR_STEPS } from '#core/contracts/error-steps.ts';
import { ERROR_TABLE, type ErrorCode } from '#core/contracts/errors.ts';
import { ApiError } from '#core/contracts/routes/client.ts';
import { GLANCE_EVERY_MS } from '#core/domain/limits.ts';
import { CI_STATES } from '#core/domain/queue/activity.ts';
import { ACTIVITY_EVENTS, BATCH_OUTCOMES, MEMBER_ACTIONS } from '#core/domain/queue/batch.ts';
import { PLACE_STATES } from '#core/domain/queue/queue-view.ts';
import { CI_GATE_STATUSES, PROTECTION_STATUSES, WEBHOOK_STATUSES } from '#core/domain/set-up/provisioning.ts';
import { path, safeBackTo } from '../../../../dashboard/routes.ts';
import { endsSession, sayError } from '../../../../dashboard/view/error-words.ts';
import { showFullTime } from '../../../../dashboard/view/format.ts';
import { sayDestinations } from '../../../../dashboard/view/notification.ts';
import { isSetUp, listSteps, TIMER, tellGateEvents } from '../../../../dashboard/view/provisioning.ts';
import * as words from '../../../../dashboard/view/words.ts';
import { REFUSALS } from '../../../../engine-container/src/queue/admission/admission-facts.ts';
import type { DeferReason } from '../../../../engine-container/src/queue/record/deferral.ts';
import { givenNode, givenStatus } from '../rows.ts';

test('every outcome, state, event and action has words; what is not listed is unknown (A85)', () => {
  for (const outcome of BATCH_OUTCOMES) expect(words.wordOfOutcome(outcome).name).not.toBe('Unknown');
  for (const state of PLACE_STATES) expect(words.wordOfPlace(state).tone).not.toBe('unknown');
  for (const event of ACTIVITY_EVENTS) expect(words.wordOfEvent(event).tone).not.toBe('unknown');
  for (const action of MEMBER_ACTIONS) expect(words.wordOfAction(action).name).not.toBe('Unknown');
  for (const strange of ['', 'toString', '__proto__', 'teleported']) {
    expect(words.wordOfOutcome(strange)).toMatchObject({ name: 'Unknown', tone: 'unknown' });
  }
});

test('an event of a refusal has the word that its status begins with', () => {
  expect(words.wordOfEvent('pr_refused', 'conflict').name).toBe('was refused');
  expect(words.wordOfEvent('pr_refused', 'base_red').name).toBe('was set aside');
  expect(words.wordOfEvent('pr_refused', 'of a newer service').name).toBe('was refused');
});

test('every refusal of the queue has its way out', () => {
  for (const reason of REFUSALS) expect(words.sayReason(reason)).not.toBe(reason.replaceAll('_', ' '));
  expect(words.sayReason('some_new_reason')).toBe('some new reason');
  expect(words.sayReason('constructor')).toBe('constructor');
  expect(words.sayReason(null)).toBeNull();
});

test('a reason names its next step once: the one of the table, in the place of the one in the status', () => {
  expect(words.sayReason('gate_failed')).toBe(
    'The gate fails with this pull request and passes without it. Push a fix, or press "Cancel auto merge" on the forge and then "Auto merge when all checks succeed".',
  );
  expect(words.sayReason('conflict')).toBe(
    'Conflicts with the base branch. Merge the base branch into the branch of this pull request, and push.',
  );
});

test('a bounce by a merge that did not come is told as its status tells it, and a requeue for the same as that', () => {
  expect(words.sayBounce('merge_timeout')).toMatch(
    /^The forge twice did not complete its merge\. To try again, /,
  );
  expect(words.sayReason('merge_timeout')).toMatch(/; tested again\. The queue goes on by itself\.$/);
  expect(words.sayBounce('gate_failed')).toBe(words.sayReason('gate_failed'));
  expect([words.sayBounce(null), words.sayBounce('some_new_reason')]).toEqual([null, 'some new reason']);
});

test('what the queue does by itself stays in the words, because no step of a person follows', () => {
  expect(words.sayReason('gate_infrastructure')).toContain('no pull request is blamed');
  expect(words.sayReason('base_advanced')).toContain('tested again on the new base');
});

test('everything that stands aside in the queue has words of its own', () => {
  // The compiler asks for a new reason here.
  const reasons = {
    conflict: true,
    conflict_ahead: true,
    not_on_batch: true,
    suspect_ahead: true,
    no_changes: true,
    base_red: true,
    criss_cross: true,
    unrelated_history: true,
    commit_left_out: true,
    merges_in_rebase: true,
    empty_directory: true,
    file_converted: true,
    too_many_commits: true,
    too_many_files: true,
    merge_unsure: true,
    directory_renamed: true,
    merge_rules: true,
    file_too_large: true,
    name_not_utf8: true,
    base_name_not_utf8: true,
    head_not_ready: true,
    gate_missing: true,
    not_mergeable: true,
    removes_gate: true,
    forge_conflict: true,
    heads_differ: true,
    staging_failed: true,
    gate_not_started: true,
    gate_not_ended: true,
    runs_broken_off: true,
  } satisfies Record<DeferReason, true>;
  for (const reason of Object.keys(reasons))
    expect(words.sayReason(reason)).not.toBe(reason.replaceAll('_', ' '));
});

test('a verdict that can come no more is not told as one to come', () => {
  expect([words.sayVerdict('none', true), words.sayVerdict('none', false)]).toEqual(['none yet', 'none']);
  expect(words.sayVerdict('failure', false)).toBe('failure');
});

test('the source of evidence: ran, confirmed, cached, none yet', () => {
  const verdict = { gate_verdict: 'failure' as const, phase: null };
  expect(words.originOf(givenNode())).toBe('pending');
  expect(words.originOf(givenNode({ ...verdict, outcome: 'bisected' }))).toBe('ran');
  expect(words.originOf(givenNode({ ...verdict, outcome: 'bounced', attempt: 2 }))).toBe('confirmed');
  expect(words.originOf(givenNode({ ...verdict, outcome: 'held_failure', gate_source: 'cached' }))).toBe(
    'cached',
  );
  expect(words.originOf(givenNode({ gate_source: 'guessed' as never }))).toBe('unknown');
});

test('every provisioning status has a tick or a fix, and each fix its button or its reason', () => {
  const repo = givenStatus();
  for (const [part, statuses] of [
    ['ci_gate', CI_GATE_STATUSES],
    ['protection', PROTECTION_STATUSES],
    ['webhook', WEBHOOK_STATUSES],
  ] as const) {
    for (const status of [...statuses, 'brand_new']) {
      const before = repo.provisioning[part];
      const provisioning = { ...repo.provisioning, [part]: { ...before, status } };
      const steps = listSteps({ ...repo, provisioning: provisioning as never });
      const step = steps.find(({ id }) => id === (part === 'ci_gate' ? 'gate' : part));
      expect([status, step?.tone === 'unknown']).toEqual([status, status === 'brand_new']);
      expect(step?.advice.length).toBeGreaterThan(20);
      // Forgejo from 15 on calls the account of such a token an administrator, and refuses it what one may do.
      if (status === 'needs_admin')
        expect(step?.advice).toContain('a token that is not for public repositories alone');
    }
  }
  expect(isSetUp(repo)).toBe(true);
  expect(listSteps(repo).map(({ tone }) => tone)).toEqual(['clear', 'clear', 'clear']);
});

test('a webhook of which no delivery was seen says so, with what to look at on the forge', () => {
  const repo = givenStatus({ last_delivery_at: null });
  const step = listSteps(repo).find(({ id }) => id === 'webhook');
  expect([step?.state, step?.tone]).toEqual(['Registered, none arrived yet', 'quiet']);
  expect(step?.advice).toMatch(/ALLOWED_HOST_LIST under \[webhook\]/);
  expect(isSetUp(repo)).toBe(true);
});

test('whether the forge sends events of the gate is told, and unknown is told as unknown', () => {
  const at = '2026-11-23T05:00:00.000Z';
  const repo = givenStatus({ gate_events: { status: null, run: at } });
  expect(tellGateEvents(repo)).toContain(
    `The forge tells the queue when a gate run ends: seen ${showFullTime(at)} (noted once an hour at most)`,
  );
  expect(tellGateEvents({ ...repo, gate: 'statuses' })).toContain(
    'when a status of the gate changes is unknown',
  );
  expect(tellGateEvents({ ...repo, wakeup_mode: 'poll' })).toBeNull();
});

test('the exact reason of the forge is shown where there is one, without its code', () => {
  const repo = givenStatus();
  const protection = {
    status: 'error' as const,
    required: null,
    detail: 'direct_push_allowed: turn that off',
  };
  const steps = listSteps({ ...repo, provisioning: { ...repo.provisioning, protection } });
  expect(steps.find(({ id }) => id === 'protection')?.advice).toBe('Turn that off');
});

test('a rule that is in the way of the queue is named beside any status', () => {
  const repo = givenStatus();
  for (const status of ['not_requested', 'configured', 'awaiting_ci_gate'] as const) {
    const waits = status === 'awaiting_ci_gate' ? 'awaiting_ci_gate: the rule is written later. ' : '';
    const protection = { status, required: true, detail: `${waits}block_on_outdated_branch: turn that off` };
    const steps = listSteps({ ...repo, provisioning: { ...repo.provisioning, protection } });
    const advice = steps.find(({ id }) => id === 'protection')?.advice;
    expect([status, advice]).toEqual([status, expect.stringMatching(/\. Turn that off\.$/)]);
    expect(advice).not.toContain('awaiting_ci_gate');
  }
});

test.each([
  [true, 'clear', /^A rule of the branch, which Mergeyard leaves as it is, asks for the status "mq"/],
  [false, 'busy', /^Without a rule that asks for "mq"/],
  [null, 'busy', /^Without a rule that asks for "mq"/],
] as const)('a rule that people made is told as it was seen: %s', (required, tone, advice) => {
  const repo = givenStatus({ status_context: 'mq' });
  const protection = { status: 'not_requested' as const, detail: null, required };
  const steps = listSteps({ ...repo, provisioning: { ...repo.provisioning, protection } });
  const step = steps.find(({ id }) => id === 'protection');
  expect(step?.tone).toBe(tone);
  expect(step?.advice).toMatch(advice);
});

/** Codes that a person never sees here: answers to webhooks, sockets, keys, removed routes and other methods, and a tier no form offers. */
const NOT_SHOWN = [
  'method_not_allowed',
  'invalid_key',
  'invalid_body',
  'invalid_tier',
  'invalid_signature',
  'lease_held',
  'gone',
  'upgrade_required',
  'method_not_allowed',
];

test('every error that a person can meet has a title of its own', () => {
  for (const [code, { status, message, retryable }] of Object.entries(ERROR_TABLE)) {
    if (NOT_SHOWN.includes(code)) continue;
    const said = sayError(new ApiError(code as never, message, status, retryable));
    expect([code, said.title]).not.toEqual([code, 'The service refused this']);
  }
});

/** Codes whose step is another one on a page: it signs in, comes back, marks the field, or asks again by itself. */
const OWN_ON_PAGE = [
  'unauthorized',
  'missing_auth',
  'not_authenticated',
  'invalid_token',
  'session_required',
  'auth_unavailable',
  'not_found',
  'realtime_unavailable',
  'unreachable',
];

test('the page says the step of the table, but where a page offers another one', () => {
  for (const [code, step] of Object.entries(ERROR_STEPS)) {
    const { fix } = sayError(new ApiError(code as never, 'Words.', 400, false));
    expect([code, fix === step]).toEqual([code, !OWN_ON_PAGE.includes(code)]);
    expect([code, fix === null]).toEqual([code, step === null]);
  }
});

test('the page says a step once, also where the message of the service ends with it', () => {
  for (const [code, { message }] of Object.entries(ERROR_TABLE)) {
    const { text, fix } = sayError(new ApiError(code as never, message, 400, false));
    const all = `${text} ${fix ?? ''}`;
    const step = ERROR_STEPS[code as ErrorCode] ?? fix ?? '';
    expect([code, step === '' ? 0 : all.split(step).length - 1]).toEqual([
      code,
      step === '' || OWN_ON_PAGE.includes(code) ? 0 : 1,
    ]);
  }
});

test('an unknown code keeps the words of the service; anything else is the page itself', () => {
  expect(sayError(new ApiError('from_tomorrow' as never, 'Tomorrow.', 418, false))).toMatchObject({
    text: 'Tomorrow.',
  });
  expect(sayError(new TypeError('x'))).toMatchObject({ code: 'page_error' });
  expect(sayError(new ApiError('rate_limited', '', 429, true, {}, 7)).fix).toBe('Wait 7 s, then try again.');
});

test('a refused session ends it; a silent provider, a refusing forge and a 403 do not (A90)', () => {
  const ends = (code: string) => endsSession(new ApiError(code as never, '', 401, false));
  expect(['invalid_token', 'missing_auth', 'not_authenticated', 'unauthorized'].map(ends)).toEqual([
    true,
    true,
    true,
    true,
  ]);
  const others = Object.keys(ERROR_TABLE).filter((code) => /forge|unavailable/.test(code));
  expect(others).toEqual(expect.arrayContaining(['auth_unavailable', 'forge_access_denied']));
  for (const code of [...others, 'forbidden', 'unreachable'])
    expect([code, ends(code)]).toEqual([code, false]);
});

test('after signing in one comes back to this page, never to another site', () => {
  expect(safeBackTo('/repos/1?node=r')).toBe('/repos/1?node=r');
  for (const text of [
    '//evil.example',
    '/\\evil.example',
    'https://evil.example',
    'javascript:x',
    '',
    null,
  ]) {
    expect(safeBackTo(text)).toBe('/');
  }
});

test('addresses of the page', () => {
  const all = [
    path.home(),
    path.signIn(),
    path.signIn('/a?b'),
    path.queue('1'),
    path.batches('1'),
    path.batch('1', 'x/y'),
    path.batch('1', 'run', 'r.1'),
    path.settings('1'),
    path.setup('1'),
    path.adminRepos('a b', 50),
    path.adminRepos(),
  ];
  expect(all).toEqual([
    '/',
    '/sign-in',
    '/sign-in?back=%2Fa%3Fb',
    '/repos/1',
    '/repos/1/batches',
    '/repos/1/batches/x%2Fy',
    '/repos/1/batches/run?node=r.1',
    '/repos/1/settings',
    '/repos/1/setup',
    '/admin/repos?q=a+b&offset=50',
    '/admin/repos',
  ]);
  expect(createHash('sha256').update(all.join()).digest('hex')).toHaveLength(64);
});

test('every state of CI has words; what is not listed is unknown', () => {
  for (const state of CI_STATES) expect(words.wordOfCi(state).name === 'Unknown').toBe(state === 'unknown');
  expect(words.wordOfCi('constructor').name).toBe('Unknown');
});

test('the receivers of bounce notices are shown in the masked form that the service gives', () => {
  const none = {
    email: null,
    email_state: null,
    chat_a_webhook_url: null,
    chat_b_webhook_url: null,
    matrix: null,
    webhook: null,
  };
  expect(sayDestinations(null)).toBe('Now: no notices are sent.');
  expect(sayDestinations(none)).toBe('Now: no notices are sent.');
  expect(
    sayDestinations({
      ...none,
      email: 'a…@example.org',
      email_state: 'confirmed',
      chat_a_webhook_url: 'https://hooks.slack.com/…',
      matrix: 'https://matrix.org/…',
    }),
  ).toBe('Now told: a…@example.org, Slack (https://hooks.slack.com/…), Matrix (https://matrix.org/…).');
});

test('a page of older batches and a node on it have an address of their own', () => {
  expect(path.batches('id')).toBe('/repos/id/batches');
  expect(path.batches('id', '00_a')).toBe('/repos/id/batches?before=00_a');
  expect(path.batch('id', 'run', 'r.1', '00_a')).toBe('/repos/id/batches/run?node=r.1&before=00_a');
  expect(path.batch('id', 'run', null, null)).toBe('/repos/id/batches/run');
});

test('a wake-up by timer is told with the glances between two ticks', () => {
  expect(TIMER).toContain(`about every ${GLANCE_EVERY_MS / 1_000} seconds while something happens`);
});
