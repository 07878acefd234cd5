/** THE table of error codes (contract, Errors; some by decision). Nothing else decides a status. The next steps are in error-steps.ts. */
export interface ErrorShape {
  readonly status: number;
  /** The same request may succeed later without any change. */
  readonly retryable: boolean;
  /** Fixed text; never an upstream's words (contract, Errors, rule 1). Empty: the body has the code alone. */
  readonly message: string;
}

export const ERROR_TABLE = {
  unauthorized: { status: 401, retryable: false, message: 'A Bearer credential is required.' },
  missing_auth: { status: 401, retryable: false, message: 'A credential is required.' },
  not_authenticated: { status: 401, retryable: false, message: 'There is no valid session.' },
  invalid_key: { status: 401, retryable: false, message: 'The key is not valid.' },
  invalid_token: {
    status: 401,
    retryable: false,
    message:
      'The session or the API token is unknown, expired or revoked. Sign in again, or make a new API token.',
  },
  session_required: {
    status: 401,
    retryable: false,
    message: 'This takes the session of a person; API tokens are not accepted here.',
  },
  insufficient_scope: {
    status: 403,
    retryable: false,
    message: 'This API token has no right to do this.',
  },
  token_limit_exceeded: {
    status: 409,
    retryable: false,
    message:
      'This account has as many API tokens as it may have. Revoke an API token that is not used any more.',
  },
  auth_unavailable: { status: 503, retryable: true, message: 'The identity provider did not answer.' },
  not_found: {
    status: 404,
    retryable: false,
    message: 'This does not exist, or it belongs to another account.',
  },
  connection_not_found: {
    status: 404,
    retryable: false,
    message: 'The connection of this repository does not exist.',
  },
  invalid_body: { status: 400, retryable: false, message: 'The body is not valid.' },
  invalid_field: { status: 400, retryable: false, message: 'A field has a value that is not allowed.' },
  missing_fields: { status: 400, retryable: false, message: 'A required field is missing.' },
  invalid_tier: { status: 400, retryable: false, message: 'The tier must be pro or team.' },
  already_on_tier: { status: 400, retryable: false, message: 'The subscription is on this tier already.' },
  confirm_mismatch: { status: 400, retryable: false, message: 'The confirmation is not your tenant id.' },
  forge_error: { status: 400, retryable: false, message: 'The forge answered with an error.' },
  payment_required: {
    status: 402,
    retryable: false,
    message: 'This repository is held until a payment is made.',
  },
  repo_limit_exceeded: {
    status: 402,
    retryable: false,
    message: 'Your plan does not allow more repositories.',
  },
  repo_already_managed: {
    status: 409,
    retryable: false,
    message: 'This branch of the repository has a queue already, or another account has the repository.',
  },
  status_context_taken: {
    status: 409,
    retryable: false,
    message:
      'The queue of another branch of this repository has this status context, and one success would open both. Name another status context.',
  },
  connection_identity_already_used: {
    status: 409,
    retryable: false,
    // The caller must not learn whose it is, nor that it is taken at all (A88).
    message: '',
  },
  queue_locked: { status: 409, retryable: true, message: 'The queue is busy. Try again in a moment.' },
  queue_not_ready: {
    status: 409,
    retryable: false,
    message: 'The queue of this repository is switched off.',
  },
  ci_gate_exists: {
    status: 409,
    retryable: false,
    message: 'The base branch has the gate workflow already.',
  },
  ci_gate_missing: { status: 409, retryable: false, message: 'The base branch has no gate workflow.' },
  queue_branches_ruled: {
    status: 409,
    retryable: false,
    message: 'A branch rule covers the branches of the queue, so the gate cannot be tried there.',
  },
  branch_name_taken: {
    status: 409,
    retryable: false,
    message:
      'A branch stands where the queue needs its own branches, which begin with its name, so the gate cannot be tried there.',
  },
  gate_untold: {
    status: 409,
    retryable: false,
    message: 'This forge tells of no gate run.',
  },
  base_missing: {
    status: 409,
    retryable: false,
    message: 'The base branch is not on the forge.',
  },
  subscription_exists: {
    status: 409,
    retryable: false,
    message: 'There is an active subscription. Change its plan instead of starting another one.',
  },
  no_active_subscription: { status: 409, retryable: false, message: 'There is no active subscription.' },
  subscription_state_mismatch: {
    status: 409,
    retryable: false,
    message:
      'The subscription has items that are not expected. Use the billing portal to change the subscription.',
  },
  forge_access_denied: { status: 422, retryable: false, message: 'The forge refused the token of the bot.' },
  schedules_not_cancelled: {
    status: 422,
    retryable: false,
    message:
      'The forge does not let the bot take back a schedule of another account, so the queue stays on while a batch is out.',
  },
  forge_token_required: {
    status: 400,
    retryable: false,
    message:
      'This is done with your own right on the forge, as the button "Auto merge when all checks succeed" does it there. Make a token on the forge that may write to the repository; it is not stored. Send it in the header X-Forge-Token.',
  },
  forge_token_refused: {
    status: 422,
    retryable: false,
    message:
      'The forge refused your own token: the token is not known there, or lacks the scope to write to the repository.',
  },
  forge_token_of_bot: {
    status: 422,
    retryable: false,
    message: 'This is the token of the bot of the queue, which schedules nothing. Send a token of your own.',
  },
  forge_token_of_job: {
    status: 422,
    retryable: false,
    message:
      'This is the token of a job of a workflow, and the forge merges nothing in the name of a job. Send a token of an account that may merge.',
  },
  author_login_limit: {
    status: 409,
    retryable: false,
    message:
      'You have proven as many logins as one person may. End the mails of a login that you no longer use.',
  },
  pull_not_open: {
    status: 409,
    retryable: false,
    message: 'There is no open pull request of this number to the branch of this queue that you may see.',
  },
  pull_merged: {
    status: 409,
    retryable: false,
    message: 'The pull request has landed: it is merged, and has no schedule to make or to take back.',
  },
  head_moved: {
    status: 409,
    retryable: false,
    message:
      'The head of the pull request is another commit. Look at the new commits, then ask with the new head.',
  },
  branch_not_protected: {
    status: 409,
    retryable: false,
    message:
      'No branch rule asks for the status of the queue, so the forge would merge what is not proven. Press "Let Mergeyard require its check" on the setup page of the repository.',
  },
  schedule_refused: {
    status: 409,
    retryable: false,
    message:
      'The forge refused the schedule: you may not merge this pull request, it is a draft, has conflicts, or depends on an open one. Look at the page of the pull request on the forge, which says why.',
  },
  rate_limited: { status: 429, retryable: true, message: 'Too many requests; slow down.' },
  db_error: { status: 500, retryable: true, message: 'The database did not answer as expected.' },
  failed_to_create_connection: {
    status: 500,
    retryable: true,
    message: 'The connection could not be created.',
  },
  connection_rotation_failed: {
    status: 500,
    retryable: true,
    message: 'The stored token could not be replaced.',
  },
  decryption_error: {
    status: 500,
    retryable: false,
    message: 'The stored token could not be decrypted.',
  },
  forge_unreachable: { status: 502, retryable: true, message: 'The forge could not be reached.' },
  payments_error: {
    status: 502,
    retryable: true,
    message: 'The payment provider refused or did not answer.',
  },
  queue_lock_failed: {
    status: 503,
    retryable: true,
    message: 'The queue could not be locked, and nothing was changed. Try again in a moment.',
  },
  realtime_unavailable: { status: 503, retryable: true, message: 'Live updates are not available.' },
  billing_unavailable: { status: 503, retryable: true, message: 'The plan could not be read.' },
  payments_not_configured: {
    status: 503,
    retryable: false,
    message: 'This deployment takes no payments.',
  },
  // Not 5xx: five of those within five minutes page the operator, and a stranger may ask for the key.
  evidence_not_configured: {
    status: 404,
    retryable: false,
    message: 'This deployment signs no statements: its operator has given it no key for that.',
  },
  signing_unavailable: {
    status: 503,
    retryable: true,
    message: 'The key service did not answer, so nothing was signed.',
  },
  connection_limit_exceeded: {
    status: 402,
    retryable: false,
    message: 'Your plan does not allow more connections.',
  },
  method_not_allowed: {
    status: 405,
    retryable: false,
    message: 'This address does not take this method. Use a method that the header Allow names.',
  },
  forbidden: { status: 403, retryable: false, message: 'Your session has no right to do this.' },
  second_factor_required: {
    status: 403,
    retryable: false,
    message: 'Administrators need a session that was begun with a second factor.',
  },
  gone: { status: 410, retryable: false, message: 'This address is no longer served.' },
  upgrade_required: { status: 426, retryable: false, message: 'A WebSocket upgrade is required.' },
  invalid_signature: { status: 401, retryable: false, message: 'The signature is not valid.' },
  lease_held: {
    status: 409,
    retryable: true,
    message: 'The queue of this repository is busy. Send the event again later.',
  },
  internal_error: { status: 500, retryable: true, message: 'Something went wrong on our side.' },
} as const satisfies Record<string, ErrorShape>;

export type ErrorCode = keyof typeof ERROR_TABLE;

export interface ErrorExtras {
  /** Name of the offending field. */
  readonly field?: string;
  /** Path of the billing portal, where that is the fix. */
  readonly portal?: string;
  /** Replaces the table's text. From our own words only. */
  readonly message?: string;
  /** Seconds, sent as `Retry-After`. */
  readonly retryAfterSeconds?: number;
  /** Methods, sent as `Allow`. */
  readonly allow?: readonly string[];
  /** Further fields of one code, such as `existing_tenant_id`. */
  readonly more?: Readonly<Record<string, string | readonly object[]>>;
}

/** The one error that services throw on purpose; `respond` turns it into the envelope. */
export class AppError extends Error {
  override readonly name = 'AppError';
  constructor(
    readonly code: ErrorCode,
    readonly extras: ErrorExtras = {},
  ) {
    super(code);
  }
}
