import type { EpochMs } from '../ids.ts';
import { isOfFastClock } from '../wakes/clocks.ts';

/** The hook of a repository, and at rest the rule of its base, are compared with what was set up at most so often. */
export const HOOK_LOOK_EVERY_MS = 60 * 60_000;

export function isSetUpLookDue(lookedAt: EpochMs, now: EpochMs): boolean {
  return now - lookedAt >= HOOK_LOOK_EVERY_MS || isOfFastClock(lookedAt, now);
}

/** `working`: as it was registered. `changed`: there, and switched off or with other events. `hidden`: the bot may not list hooks. */
export const HOOK_STATES = ['working', 'changed', 'missing', 'hidden'] as const;
export type HookState = (typeof HOOK_STATES)[number];

/** The hook of a repository on its forge, as the engine saw it last. */
export interface HookSeen {
  /** First look that saw this state. */
  readonly since: EpochMs;
  /** Latest look. */
  readonly at: EpochMs;
  readonly state: HookState;
}

interface HookFields {
  readonly url: string;
  readonly isJson: boolean;
  readonly active: boolean;
  readonly branchFilter: string;
  readonly events: readonly string[];
}

/** Without these a hook is not the one that was registered. */
const NEEDED_EVENTS: readonly string[] = ['push', 'pull_request', 'issue_comment', 'release'];

/** Does it send what it was registered for? */
export function isWorkingHook({ active, isJson, branchFilter, events }: HookFields): boolean {
  const isUnfiltered = branchFilter === '' || branchFilter === '*';
  return active && isJson && isUnfiltered && NEEDED_EVENTS.every((event) => events.includes(event));
}

/** `hooks`: null where the bot may not list them. */
export function hookStateOf(hookId: string, hooks: readonly HookFields[] | null): HookState {
  if (hooks === null) return 'hidden';
  const own = hooks.filter(({ url }) => url.endsWith(`?r=${hookId}`));
  if (own.length === 0) return 'missing';
  return own.some(isWorkingHook) ? 'working' : 'changed';
}

/** Where no delivery of the webhook arrives. A forge sends to no address inside its network, unless its administrator says so. */
export const UNDELIVERED_STEP =
  'open the webhook of the queue in the settings of the repository on the forge: its recent deliveries say why. A forge sends to an address inside its own network only where ALLOWED_HOST_LIST under [webhook] in its app.ini names this service.';
