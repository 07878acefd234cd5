import { CONNECTIONS_PER_TENANT_MAX, REPOS_PER_TENANT_MAX } from '../domain/api-limits.ts';
import { REFUSAL_CAUSES } from '../domain/forge/refusal-cause.ts';
import type { ApiError, ApiErrorCode } from './routes/client.ts';

/**
 * The next step of each error, in words that are right for a person, a script and an agent alike; null: nothing is left to
 * do. Clients say them by code. They are neither in the envelope nor in the table of codes, because every function holds
 * that table. A code without its row does not compile.
 */
export const ERROR_STEPS: Readonly<Record<ApiErrorCode, string | null>> = {
  unauthorized: 'Sign in, or send an API token as a Bearer credential.',
  missing_auth: 'Sign in, or send an API token as a Bearer credential.',
  not_authenticated: 'Sign in again.',
  invalid_key: 'Send the administrator key of this deployment.',
  invalid_token: 'Sign in again, or make a new API token.',
  session_required: 'Sign in on the page of the service, and do it there.',
  insufficient_scope:
    'Make an API token with the scope that this needs, for this repository, on the page Account.',
  token_limit_exceeded: 'Revoke an API token that is not used any more.',
  auth_unavailable: 'Try again in a moment.',
  not_found: 'Check its name or id, and that your session or token may see it.',
  connection_not_found: 'Connect the forge again, then add the repository again.',
  invalid_body: 'Send one JSON object in the form of the API document, as application/json.',
  invalid_field: 'Correct the field that is not allowed.',
  missing_fields: 'Give the field that is missing.',
  invalid_tier: 'Send the tier pro or team.',
  already_on_tier: null,
  confirm_mismatch: 'Give your tenant id exactly as the page Account shows it.',
  forge_error: 'Check that the token still works and has the scopes that it needs, then try again.',
  payment_required: 'Settle the payment on the page Billing; the queue goes on by itself.',
  repo_limit_exceeded: `Choose a larger plan where there is one, or remove a repository: no account has more than ${REPOS_PER_TENANT_MAX}.`,
  connection_limit_exceeded: `Choose a larger plan where there is one, or remove a connection: no account has more than ${CONNECTIONS_PER_TENANT_MAX}.`,
  repo_already_managed:
    'One queue for each branch, and one account for each repository: remove it there first.',
  status_context_taken: 'Name another status context.',
  connection_identity_already_used: 'Make a bot of your own on the forge and use its token.',
  queue_locked: 'Try again in a moment.',
  queue_lock_failed: 'Try again in a moment.',
  queue_not_ready: 'Switch the queue on in the settings of the repository first.',
  ci_gate_exists: 'No setup pull request is needed. Verify the gate instead.',
  ci_gate_missing: 'Merge the setup pull request first.',
  queue_branches_ruled:
    'Change that rule on the forge, so that the bot may make, rewrite and delete the branches of the queue, then verify again.',
  branch_name_taken:
    'Rename or delete that branch on the forge, such as one that has just the name of the queue, then verify again.',
  gate_untold:
    'Update the forge (Gitea to 1.23 or newer, Forgejo to 11 or newer), or let another CI judge: set the gate to commit statuses.',
  base_missing: 'Create the branch on the forge or give it its name back, or add its new name here.',
  subscription_exists: 'Change its plan instead of starting another one.',
  no_active_subscription: 'Start a subscription first.',
  subscription_state_mismatch: 'Use the billing portal to change the subscription.',
  forge_access_denied:
    'Check that the token has not expired and has the scopes that it needs, and that the bot may write to the repository.',
  schedules_not_cancelled:
    'Make the bot an administrator of the repository on the forge and, where the branch rule lists who may merge, put the bot on that list. Or switch the queue off while no batch is out.',
  // Which right the token needs is said by the message: it differs by what is asked.
  forge_token_required: 'Send it in the header X-Forge-Token.',
  forge_token_refused: 'Make a new one with that scope, and send it.',
  forge_token_of_bot: 'Send a token of your own.',
  forge_token_of_job: 'Send a token of an account that may merge.',
  author_login_limit: 'End the mails of a login that you no longer use.',
  pull_not_open:
    'Check the number, and look at the state and the base branch of the pull request on the forge.',
  pull_merged: 'Nothing is left to do: its receipt is on the page of the pull request.',
  head_moved: 'Look at the new commits, then ask with the new head.',
  branch_not_protected: 'Press "Let Mergeyard require its check" on the setup page of the repository.',
  schedule_refused: 'Look at the page of the pull request on the forge, which says why.',
  rate_limited: 'Wait a moment, then try again.',
  db_error: 'Nothing is lost. Try again in a moment.',
  failed_to_create_connection: 'Nothing was saved. Try again.',
  connection_rotation_failed: 'The old token is still stored. Try again.',
  decryption_error: 'Store the token again, on the page Connections.',
  forge_unreachable: 'Check that the forge is up and can be reached from this service, then try again.',
  payments_error:
    'Look at your plan first: what was not answered in time may have been done all the same. Then try again, or use the billing portal.',
  payments_not_configured: 'Ask the operator of this service.',
  realtime_unavailable: 'Ask for the status every 30 seconds meanwhile, and for a ticket again later.',
  billing_unavailable: 'That does not mean that the plan is gone. Try again in a moment.',
  evidence_not_configured: 'Ask the operator to add a key.',
  signing_unavailable: 'Try again in a moment.',
  method_not_allowed: 'Use a method that the header Allow names.',
  forbidden: 'Ask the operator of this service for that right.',
  second_factor_required:
    'Set a second factor up, or show a code, on the page Account; or sign out, and sign in again with it.',
  gone: 'Use an address of the API document.',
  upgrade_required: 'Open a WebSocket on this address, with a ticket.',
  invalid_signature: 'Check that the sender signs with the secret that the service has for it.',
  lease_held: 'Send the event again later.',
  internal_error: 'It has been logged. Try again in a moment.',
  unreachable: 'Check the address and your network, then try again.',
  unexpected:
    'Check that the address is that of the service itself and that no proxy answers in its place, then try again.',
};

/** The step, made exact by what stands beside the code. */
export function nextStep({ code, field, retryable, retryAfterSeconds, message }: ApiError): string | null {
  const cause = Object.values(REFUSAL_CAUSES).find(({ next }) => message.endsWith(next));
  if (cause !== undefined) return cause.next;
  // A newer service has further codes.
  if (!Object.hasOwn(ERROR_STEPS, code)) return retryable ? 'Try again in a moment.' : null;
  if (code === 'rate_limited' && retryAfterSeconds !== null)
    return `Wait ${retryAfterSeconds} s, then try again.`;
  if (code === 'invalid_field' && field !== null) return `Correct the field "${field}".`;
  if (code === 'missing_fields' && field !== null) return `Give the field "${field}".`;
  return ERROR_STEPS[code];
}

export interface SplitError {
  /** The message without the step; as it came where there is no step. */
  readonly fact: string;
  readonly step: string | null;
}

/** Some messages end with their step, for those who read the API itself: it is said once. */
export function splitStep(error: ApiError, step = nextStep(error)): SplitError {
  if (step === null) return { fact: error.message, step };
  const fact = error.message.endsWith(step)
    ? error.message.slice(0, -step.length).trimEnd()
    : error.message.trim();
  return { fact: /[^.!?:]$/.test(fact) ? `${fact}.` : fact, step };
}
