import { AppError, ERROR_TABLE, type ErrorCode } from '#core/contracts/errors.ts';
import { respondError } from '#core/http/respond.ts';

/** The contract's table, copied by hand: the code under test must not be its own witness. */
const BY_CONTRACT = {
  unauthorized: 401,
  missing_auth: 401,
  not_authenticated: 401,
  invalid_key: 401,
  invalid_token: 401,
  auth_unavailable: 503,
  not_found: 404,
  connection_not_found: 404,
  invalid_body: 400,
  invalid_field: 400,
  missing_fields: 400,
  invalid_tier: 400,
  already_on_tier: 400,
  confirm_mismatch: 400,
  forge_error: 400,
  payment_required: 402,
  repo_limit_exceeded: 402,
  repo_already_managed: 409,
  connection_identity_already_used: 409,
  queue_locked: 409,
  queue_not_ready: 409,
  ci_gate_exists: 409,
  ci_gate_missing: 409,
  subscription_exists: 409,
  no_active_subscription: 409,
  subscription_state_mismatch: 409,
  forge_access_denied: 422,
  rate_limited: 429,
  db_error: 500,
  failed_to_create_connection: 500,
  connection_rotation_failed: 500,
  decryption_error: 500,
  forge_unreachable: 502,
  payments_error: 502,
  queue_lock_failed: 503,
  realtime_unavailable: 503,
  billing_unavailable: 503,
  payments_not_configured: 503,
};
const BY_DECISION = {
  method_not_allowed: 405,
  connection_limit_exceeded: 402,
  forbidden: 403,
  gone: 410,
  upgrade_required: 426,
  invalid_signature: 401,
  lease_held: 409,
  status_context_taken: 409,
  session_required: 401,
  insufficient_scope: 403,
  token_limit_exceeded: 409,
  second_factor_required: 403,
  forge_token_required: 400,
  forge_token_refused: 422,
  forge_token_of_bot: 422,
  forge_token_of_job: 422,
  pull_merged: 409,
  author_login_limit: 409,
  evidence_not_configured: 404,
  signing_unavailable: 503,
  pull_not_open: 409,
  head_moved: 409,
  branch_not_protected: 409,
  queue_branches_ruled: 409,
  branch_name_taken: 409,
  gate_untold: 409,
  base_missing: 409,
  schedule_refused: 409,
  schedules_not_cancelled: 422,
  internal_error: 500,
};
const ALL: Record<ErrorCode, number> = { ...BY_CONTRACT, ...BY_DECISION };

test('the table has the codes of the contract and the thirty by decision, no more', () => {
  const statuses = Object.fromEntries(
    Object.entries(ERROR_TABLE).map(([code, { status }]) => [code, status]),
  );
  expect(statuses).toEqual(ALL);
  expect([Object.keys(BY_CONTRACT).length, Object.keys(BY_DECISION).length]).toEqual([38, 30]);
});

test.each(Object.entries(ALL))('%s is %d in the envelope', (code, status) => {
  const response = respondError(new AppError(code as ErrorCode), () => undefined);
  expect(response.statusCode).toBe(status);
  // Whose identity it is must not be guessed from words: that answer is its code and nothing else (A88).
  const bare = code === 'connection_identity_already_used';
  const error = bare ? { code } : { code, message: expect.stringMatching(/\w/) };
  expect(JSON.parse(response.body).error).toEqual(expect.objectContaining(error));
  if (bare) expect(Object.keys(JSON.parse(response.body).error)).toEqual(['code']);
});

test('extras are shown next to code and message', () => {
  const error = new AppError('repo_already_managed', {
    field: 'repo_slug',
    portal: '/api/v1/billing/portal',
    message: 'own words',
    retryAfterSeconds: 7,
    more: { existing_managed_repo_id: 'r1' },
  });
  const response = respondError(error, () => undefined);
  expect(JSON.parse(response.body)).toEqual({
    error: {
      code: 'repo_already_managed',
      message: 'own words',
      field: 'repo_slug',
      portal: '/api/v1/billing/portal',
      existing_managed_repo_id: 'r1',
    },
  });
  expect(response.headers['retry-after']).toBe('7');
});

test('transient codes say retryable, others say nothing (A64)', () => {
  const bodyOf = (code: ErrorCode) =>
    JSON.parse(respondError(new AppError(code), () => undefined).body).error;
  expect(bodyOf('auth_unavailable').retryable).toBe(true);
  expect(bodyOf('billing_unavailable').retryable).toBe(true);
  expect(bodyOf('realtime_unavailable').retryable).toBe(true);
  expect(bodyOf('invalid_field')).not.toHaveProperty('retryable');
});

test.each([new Error('upstream said canary'), 'canary', null, { code: 'not_found', status: 404 }])(
  'anything else is the generic 500, is reported, and tells nothing (%p)',
  (thrown) => {
    const reported: unknown[] = [];
    const response = respondError(thrown, (error) => reported.push(error));
    expect(response.statusCode).toBe(500);
    expect(JSON.parse(response.body).error.code).toBe('internal_error');
    expect(response.body).not.toContain('canary');
    expect(reported).toEqual([thrown]);
  },
);
