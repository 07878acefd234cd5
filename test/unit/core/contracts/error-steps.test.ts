import { ERROR_STEPS, nextStep, splitStep } from '#core/contracts/error-steps.ts';
import { ERROR_TABLE, type ErrorCode, type ErrorShape } from '#core/contracts/errors.ts';
import { ApiError, type ApiErrorCode } from '#core/contracts/routes/client.ts';
import {
  describeRefusalCause,
  REFUSAL_CAUSE_NAMES,
  REFUSAL_CAUSES,
} from '#core/domain/forge/refusal-cause.ts';

const CODES = Object.keys(ERROR_TABLE) as ErrorCode[];
const shapeOf = (code: ErrorCode): ErrorShape => ERROR_TABLE[code];
const stepOf = (code: string): string => ERROR_STEPS[code as ApiErrorCode] ?? '';

/** An error as the client throws it. */
const given = (code: string, message = '', retryable = false, field?: string, after: number | null = null) =>
  new ApiError(code as ApiErrorCode, message, 400, retryable, field === undefined ? {} : { field }, after);

test('every code has a next step; one has none, because nothing is left to do', () => {
  expect(Object.keys(ERROR_STEPS).sort()).toEqual([...CODES, 'unreachable', 'unexpected'].sort());
  const without = Object.entries(ERROR_STEPS).filter(([, step]) => step === null);
  expect(without.map(([code]) => code)).toEqual(['already_on_tier']);
});

test.each(CODES.filter((code) => ERROR_STEPS[code] !== null))(
  'the step of %s is sentences that are right off the page too',
  (code) => {
    expect(stepOf(code)).toMatch(/^\p{Lu}.*\.$/u);
    expect(stepOf(code)).not.toMatch(/this page|marked|below|above|come back/i);
  },
);

test.each(CODES.filter((code) => shapeOf(code).retryable))(
  'the step of %s, which may succeed later, says to try again',
  (code) => expect(stepOf(code)).toMatch(/again/i),
);

/** https://docs.stripe.com/error-low-level: whether a request without an answer was carried out is not known. */
test('the step of a payment provider that refused or did not answer does not say that nothing was charged', () => {
  expect(stepOf('payments_error')).not.toMatch(/nothing was charged/i);
  expect(stepOf('payments_error')).toContain('may have been done');
});

test.each(REFUSAL_CAUSE_NAMES)('a refusal by the cause %s has the step of that cause, said once', (cause) => {
  const { says, next } = REFUSAL_CAUSES[cause];
  for (const code of ['forge_access_denied', 'forge_unreachable']) {
    const split = splitStep(given(code, describeRefusalCause(cause)));
    expect(split).toEqual({ fact: `${says}.`, step: next });
  }
});

test('a message that has its step ends with it, so that a client can say it once', () => {
  const saying = CODES.filter((code) => shapeOf(code).message.includes(stepOf(code)) && stepOf(code) !== '');
  expect(saying.filter((code) => !shapeOf(code).message.endsWith(stepOf(code)))).toEqual([]);
  expect(saying.sort()).toEqual([
    'author_login_limit',
    'branch_not_protected',
    'forge_token_of_bot',
    'forge_token_of_job',
    'forge_token_required',
    'head_moved',
    'invalid_token',
    'lease_held',
    'method_not_allowed',
    'queue_lock_failed',
    'queue_locked',
    'schedule_refused',
    'status_context_taken',
    'subscription_exists',
    'subscription_state_mismatch',
    'token_limit_exceeded',
  ]);
  expect(splitStep(given('head_moved', ERROR_TABLE.head_moved.message))).toEqual({
    fact: 'The head of the pull request is another commit.',
    step: 'Look at the new commits, then ask with the new head.',
  });
});

test('what is beside the code makes the step exact: the field, and how long to wait', () => {
  expect(nextStep(given('invalid_field', '', false, 'batch_target'))).toBe(
    'Correct the field "batch_target".',
  );
  expect(nextStep(given('missing_fields', '', false, 'repo_slug'))).toBe('Give the field "repo_slug".');
  expect(nextStep(given('invalid_field'))).toBe(ERROR_STEPS.invalid_field);
  expect(nextStep(given('rate_limited', '', true, undefined, 7))).toBe('Wait 7 s, then try again.');
  expect(nextStep(given('rate_limited', '', true))).toBe('Wait a moment, then try again.');
});

test('of a code that a newer service knows only whether to try again is known', () => {
  expect(nextStep(given('from_tomorrow', '', true))).toBe('Try again in a moment.');
  for (const code of ['from_tomorrow', 'constructor', '__proto__', ''])
    expect(nextStep(given(code))).toBeNull();
});

test('a message without its full stop gets one before a step, and stays as it is without a step', () => {
  expect(splitStep(given('forge_error', 'forge answered 403 Forbidden')).fact).toBe(
    'forge answered 403 Forbidden.',
  );
  expect(splitStep(given('from_tomorrow', 'so'))).toEqual({ fact: 'so', step: null });
  expect(splitStep(given('connection_identity_already_used')).fact).toBe('');
});
