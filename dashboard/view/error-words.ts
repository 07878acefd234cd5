import { ApiError } from '#core/contracts/client.ts';

export interface ErrorWords {
  readonly title: string;
  readonly text: string;
  /** The cure; null when there is nothing but to wait. */
  readonly fix: string | null;
  readonly code: string;
  readonly retryable: boolean;
  /** Where the fix is. */
  readonly goTo: 'billing' | 'connections' | 'sign-in' | null;
}

type Words = readonly [title: string, fix: string | null, goTo?: ErrorWords['goTo']];

const WORDS: Readonly<Record<string, Words>> = {
  missing_auth: ['You are signed out', 'Sign in again; you come back to this page.', 'sign-in'],
  unauthorized: ['You are signed out', 'Sign in again; you come back to this page.', 'sign-in'],
  invalid_token: ['Your session has ended', 'Sign in again; you come back to this page.', 'sign-in'],
  not_authenticated: ['You are signed out', 'Sign in again; you come back to this page.', 'sign-in'],
  session_required: [
    'This needs a person who is signed in',
    'Sign in on this page; an API token cannot do this.',
    'sign-in',
  ],
  insufficient_scope: [
    'The API token has no right to do this',
    'Make one with that scope, and for that repository, on the account page.',
  ],
  token_limit_exceeded: ['There is no room for more API tokens', 'Revoke one that is not used any more.'],
  auth_unavailable: [
    'Sign-in could not be checked',
    'The identity provider did not answer. You are still signed in; try again in a moment.',
  ],
  forbidden: [
    'This is for operators',
    'Your session has no administrator role. Ask the operator of this service.',
  ],
  second_factor_required: [
    'A second factor is needed',
    'Set it up, or show a code, on the page Account; or sign out, and sign in again with it.',
  ],
  not_found: ['Not found', 'It was removed, or it belongs to another account. Go back to the overview.'],
  connection_not_found: [
    'Its connection is gone',
    'Connect the forge again, then add the repository again.',
    'connections',
  ],
  invalid_field: ['A value is not allowed', 'Correct the marked field.'],
  missing_fields: ['Something is missing', 'Fill in the marked field.'],
  forge_error: [
    'The forge answered with an error',
    'Check that the token still works and has the scopes named below, then try again.',
  ],
  forge_token_required: ['A forge token of your own is needed', 'Send it in the header X-Forge-Token.'],
  forge_token_refused: [
    'The forge refused your own token',
    'Make one that may write to the repository, then send it again.',
  ],
  author_login_limit: [
    'You have proven as many logins as one person may',
    'End the mails of a login that you no longer use.',
  ],
  forge_token_of_bot: ['This is the token of the bot', 'Send a token of your own.'],
  pull_not_open: ['There is no such open pull request', 'Look at it on the forge.'],
  pull_merged: ['The pull request has landed', 'Look at its receipt on the page of the pull request.'],
  head_moved: ['The pull request has another head', 'Look at the new commits, then ask again.'],
  branch_not_protected: [
    'The branch is not protected',
    'Press "Let Mergeyard require its check" on the setup page of the repository.',
  ],
  schedule_refused: ['The forge refused the schedule', 'Look at the pull request on the forge.'],
  forge_access_denied: [
    'The forge refused the token',
    'Check that it has not expired, has the scopes named, and that the bot may see the repository.',
  ],
  forge_unreachable: [
    'The forge could not be reached',
    'Check that the forge is up and can be reached from the internet, then try again.',
  ],
  payment_required: [
    'This repository is on hold',
    'Settle the payment; the queue goes on by itself.',
    'billing',
  ],
  repo_limit_exceeded: [
    'Your plan has no room for more repositories',
    'Choose a larger plan, or remove a repository.',
    'billing',
  ],
  connection_limit_exceeded: [
    'Your plan has no room for more connections',
    'Choose a larger plan, or remove a connection.',
    'billing',
  ],
  repo_already_managed: [
    'This branch is in a queue already',
    'One queue for each branch, and one account for each repository: remove it there first.',
  ],
  status_context_taken: [
    'Another branch of this repository has this status context',
    'A commit may head pull requests to both, and one success would open both. Name another context.',
  ],
  connection_identity_already_used: [
    'This bot is in use by another account',
    'Make a bot of your own on the forge and use its token.',
  ],
  queue_locked: ['The queue is busy right now', 'It is in the middle of a step. Try again in a few seconds.'],
  queue_lock_failed: ['The queue could not be locked', 'Nothing was changed. Try again in a moment.'],
  queue_not_ready: ['The queue is switched off', 'Switch it on in the settings of the repository first.'],
  ci_gate_exists: [
    'The gate workflow is there already',
    'No setup pull request is needed. Verify it instead.',
  ],
  ci_gate_missing: ['The gate workflow is not on the base branch', 'Merge the setup pull request first.'],
  subscription_exists: [
    'You have a subscription already',
    'Change its plan instead of starting another one.',
  ],
  no_active_subscription: ['There is no subscription to change', 'Start one first.'],
  subscription_state_mismatch: [
    'The subscription holds items that are not expected',
    'Use the billing portal to change it.',
  ],
  already_on_tier: ['You are on this plan already', null],
  payments_error: [
    'The payment provider refused or did not answer',
    'Nothing was charged. Try again, or use the billing portal.',
  ],
  evidence_not_configured: [
    'This service signs no statements',
    'The operator of this service can add a key for them.',
  ],
  signing_unavailable: ['Nothing was signed', 'The key service did not answer. Try again in a moment.'],
  payments_not_configured: [
    'Billing is not set up here',
    'This deployment takes no payments. Ask its operator.',
  ],
  billing_unavailable: [
    'Your plan could not be read',
    'That does not mean it is gone. Try again in a moment.',
  ],
  realtime_unavailable: ['Live updates are not available', 'This page asks every 30 seconds instead.'],
  confirm_mismatch: ['That is not your tenant id', 'Type it exactly as it is shown.'],
  decryption_error: ['The stored token could not be opened', 'Store the token again.', 'connections'],
  connection_rotation_failed: ['The token could not be replaced', 'The old one is still stored. Try again.'],
  failed_to_create_connection: ['The connection could not be stored', 'Nothing was saved. Try again.'],
  db_error: ['The database did not answer', 'Nothing is lost. Try again in a moment.'],
  internal_error: ['Something went wrong on our side', 'It has been logged. Try again in a moment.'],
  rate_limited: ['Too many requests', null],
  unreachable: ['The service cannot be reached', 'Check your network. This page tries again by itself.'],
  unexpected: [
    'The answer did not come from the service',
    'A proxy or the network that you are in answered instead of the service.',
  ],
};

/** The one place where an error of the service becomes words for people. */
export function sayError(error: unknown): ErrorWords {
  if (!(error instanceof ApiError)) {
    return {
      ...{
        title: 'This page failed',
        text: 'An error in the page itself stopped it.',
        code: 'page_error',
      },
      ...{
        fix: 'Reload it. If it happens again, tell the operator of the service.',
        retryable: true,
        goTo: null,
      },
    };
  }
  const [title, fix, goTo = null] = WORDS[error.code] ?? ['The service refused this', null];
  const wait = error.retryAfterSeconds;
  return {
    title,
    text: error.message,
    fix:
      error.code === 'rate_limited'
        ? `Wait ${wait === null ? 'a moment' : `${wait} s`}, then try again.`
        : fix,
    code: error.code,
    retryable: error.retryable,
    goTo,
  };
}

/** Refusals that a new sign-in mends. */
export function endsSession(error: unknown): boolean {
  return (
    error instanceof ApiError &&
    ['missing_auth', 'unauthorized', 'invalid_token', 'not_authenticated'].includes(error.code)
  );
}
