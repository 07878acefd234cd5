import { splitStep } from '#core/contracts/error-steps.ts';
import { ApiError } from '#core/contracts/routes/client.ts';

export interface ErrorWords {
  readonly title: string;
  readonly text: string;
  /** The next step; null when nothing is left to do, or none is known. */
  readonly fix: string | null;
  readonly code: string;
  readonly retryable: boolean;
  /** Where the fix is. */
  readonly goTo: 'billing' | 'connections' | 'sign-in' | null;
}

interface Words {
  readonly title: string;
  readonly goTo?: ErrorWords['goTo'];
  /** The step where a page offers another one than the table of steps: it signs in, asks again by itself. */
  readonly fix?: string;
}

const BACK = 'Sign in again; you come back to this page.';

const WORDS: Readonly<Record<string, Words>> = {
  missing_auth: { title: 'You are signed out', goTo: 'sign-in', fix: BACK },
  unauthorized: { title: 'You are signed out', goTo: 'sign-in', fix: BACK },
  invalid_token: { title: 'Your session has ended', goTo: 'sign-in', fix: BACK },
  not_authenticated: { title: 'You are signed out', goTo: 'sign-in', fix: BACK },
  session_required: {
    title: 'This needs a person who is signed in',
    goTo: 'sign-in',
    fix: 'Sign in on this page; an API token cannot do this.',
  },
  insufficient_scope: { title: 'The API token has no right to do this' },
  token_limit_exceeded: { title: 'There is no room for more API tokens' },
  auth_unavailable: {
    title: 'Sign-in could not be checked',
    fix: 'You are still signed in; try again in a moment.',
  },
  forbidden: { title: 'This is for operators' },
  second_factor_required: { title: 'A second factor is needed' },
  not_found: { title: 'Not found', fix: 'Go back to the overview.' },
  connection_not_found: { title: 'Its connection is gone', goTo: 'connections' },
  invalid_field: { title: 'A value is not allowed' },
  missing_fields: { title: 'Something is missing' },
  forge_error: { title: 'The forge answered with an error' },
  forge_token_required: { title: 'A forge token of your own is needed' },
  forge_token_refused: { title: 'The forge refused your own token' },
  author_login_limit: { title: 'You have proven as many logins as one person may' },
  forge_token_of_bot: { title: 'This is the token of the bot' },
  forge_token_of_job: { title: 'This is the token of a job' },
  pull_not_open: { title: 'There is no such open pull request' },
  pull_merged: { title: 'The pull request has landed' },
  head_moved: { title: 'The pull request has another head' },
  branch_not_protected: { title: 'The branch is not protected' },
  schedule_refused: { title: 'The forge refused the schedule' },
  // The token may be in order: an archived repository, or one where the bot may not write, has this code as well.
  forge_access_denied: { title: 'The forge refused the bot' },
  schedules_not_cancelled: { title: 'The bot may not take back a schedule' },
  forge_unreachable: { title: 'The forge could not be reached' },
  payment_required: { title: 'This repository is on hold', goTo: 'billing' },
  repo_limit_exceeded: { title: 'Your plan has no room for more repositories', goTo: 'billing' },
  connection_limit_exceeded: { title: 'Your plan has no room for more connections', goTo: 'billing' },
  repo_already_managed: { title: 'This branch is in a queue already' },
  status_context_taken: { title: 'Another branch of this repository has this status context' },
  connection_identity_already_used: { title: 'This bot is in use by another account' },
  queue_locked: { title: 'The queue is busy right now' },
  queue_lock_failed: { title: 'The queue could not be locked' },
  queue_not_ready: { title: 'The queue is switched off' },
  ci_gate_exists: { title: 'The gate workflow is there already' },
  queue_branches_ruled: { title: 'A branch rule covers the branches of the queue' },
  branch_name_taken: { title: 'A branch takes the place of those of the queue' },
  gate_untold: { title: 'This forge does not tell of gate runs' },
  base_missing: { title: 'The base branch is not on the forge' },
  ci_gate_missing: { title: 'The gate workflow is not on the base branch' },
  subscription_exists: { title: 'You have a subscription already' },
  no_active_subscription: { title: 'There is no subscription to change' },
  subscription_state_mismatch: { title: 'The subscription holds items that are not expected' },
  already_on_tier: { title: 'You are on this plan already' },
  payments_error: { title: 'The payment provider refused or did not answer' },
  evidence_not_configured: { title: 'This service signs no statements' },
  signing_unavailable: { title: 'Nothing was signed' },
  payments_not_configured: { title: 'Billing is not set up here' },
  billing_unavailable: { title: 'Your plan could not be read' },
  realtime_unavailable: {
    title: 'Live updates are not available',
    fix: 'This page asks every 30 seconds instead.',
  },
  confirm_mismatch: { title: 'That is not your tenant id' },
  decryption_error: { title: 'The stored token could not be opened', goTo: 'connections' },
  connection_rotation_failed: { title: 'The token could not be replaced' },
  failed_to_create_connection: { title: 'The connection could not be stored' },
  db_error: { title: 'The database did not answer' },
  internal_error: { title: 'Something went wrong on our side' },
  rate_limited: { title: 'Too many requests' },
  unreachable: {
    title: 'The service cannot be reached',
    fix: 'Check your network. This page tries again by itself.',
  },
  unexpected: { title: 'The answer did not come from the service' },
};

/** The one place where an error of the service becomes words for people. */
export function sayError(error: unknown): ErrorWords {
  if (!(error instanceof ApiError)) {
    return {
      title: 'This page failed',
      text: 'An error in the page itself stopped it.',
      code: 'page_error',
      fix: 'Reload it. If it happens again, tell the operator of the service.',
      retryable: true,
      goTo: null,
    };
  }
  const words: Words = WORDS[error.code] ?? { title: 'The service refused this' };
  const { fact, step } = splitStep(error);
  return {
    title: words.title,
    // A message that only says the title again would be read twice.
    text: fact === `${words.title}.` ? '' : fact,
    fix: words.fix ?? step,
    code: error.code,
    retryable: error.retryable,
    goTo: words.goTo ?? null,
  };
}

/** Refusals that a new sign-in mends. */
export function endsSession(error: unknown): boolean {
  return (
    error instanceof ApiError &&
    ['missing_auth', 'unauthorized', 'invalid_token', 'not_authenticated'].includes(error.code)
  );
}
