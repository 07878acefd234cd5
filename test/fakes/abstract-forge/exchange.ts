import { isAccountLocked } from '#core/adapters/forge-http/wire/account-locked.ts';
import { ForgeError, type ForgeErrorKind } from '#core/ports/forge.ts';
import type { World } from './world.ts';

export interface Call {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Below the repository unless it starts with a slash. */
  readonly path: string;
  /** The path without numbers, names and SHAs. */
  readonly label: string;
  /** The subject of the call, where no path says it: the patch. */
  readonly about?: string;
}

/** As a rule the forge carries out a call that its client has given up within this time. */
export const LATE_EFFECT_MS = 19_000;

const WRITTEN_WHEN_ARCHIVED = 'POST statuses/{sha}';

/** The forge's own refusals, as an HTTP status. */
export class Refusal extends Error {
  constructor(readonly status: number) {
    super(`refused with ${status}`);
  }
}

/** Throws the forge's 404. */
export function found<Thing>(thing: Thing | undefined): Thing {
  if (thing === undefined) throw new Refusal(404);
  return thing;
}

/**
 * One API call of the bot: asks for a fault, writes the log, and turns refusals into the port's error the way the
 * HTTP client does. `answers` names the statuses that are no error for this call but an outcome of it.
 */
export function exchange<Result>(
  world: World,
  call: Call,
  carryOut: () => Result,
  answers: ReadonlyMap<number, Result> = new Map(),
): Result {
  const path = `/api/v1${call.path.startsWith('/') ? call.path : `/repos/${world.slug}/${call.path}`}`;
  const { method, about } = call;
  const asked = { method, path, ...(about === undefined ? {} : { about }) };
  if (world.knobs.isLate(asked)) {
    world.timers.after(world.knobs.lateEffectMs, () => carryOutQuietly(carryOut));
    record(world, call, 0);
    throw toForgeError(call, 0, false);
  }
  const fault = world.knobs.fault(asked);
  if (fault === null) {
    if (!world.isArchived || method === 'GET' || call.label === WRITTEN_WHEN_ARCHIVED)
      return settle(world, call, carryOut, answers);
    record(world, call, 423);
    throw toForgeError(call, 423, true);
  }

  if (fault.when === 'after') carryOutQuietly(carryOut);
  record(world, call, fault.status);
  const isJson = fault.html !== true && (fault.body === undefined || isJsonText(fault.body));
  const outcome = isJson ? answers.get(fault.status) : undefined;
  if (outcome !== undefined) return outcome;
  throw toForgeError(call, fault.status, isJson, fault.body);
}

function settle<Result>(
  world: World,
  call: Call,
  carryOut: () => Result,
  answers: ReadonlyMap<number, Result>,
): Result {
  try {
    const result = carryOut();
    record(world, call, call.method === 'POST' ? 201 : call.method === 'DELETE' ? 204 : 200);
    return result;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    record(world, call, error.status);
    const outcome = answers.get(error.status);
    if (outcome !== undefined) return outcome;
    throw toForgeError(call, error.status, true);
  }
}

/** The caller never gets the answer, so a refusal is lost as well. */
function carryOutQuietly(carryOut: () => unknown): void {
  try {
    carryOut();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
  }
}

function record(world: World, call: Call, status: number): void {
  world.callLog.push({
    at: world.timers.now(),
    method: call.method,
    call: call.label,
    write: call.method !== 'GET',
    status,
    by: world.bot,
  });
}

const KINDS: ReadonlyMap<number, ForgeErrorKind> = new Map([
  [400, 'rejected'],
  [401, 'denied'],
  [403, 'denied'],
  [404, 'missing'],
  [405, 'rejected'],
  [409, 'rejected'],
  // Of Forgejo, beyond a quota.
  [413, 'denied'],
  [422, 'rejected'],
  [423, 'archived'],
  [429, 'rate_limited'],
]);

/** Status 0 = no answer at all. */
function toForgeError(call: Call, status: number, isJson: boolean, body = ''): ForgeError {
  const kind = (isJson ? KINDS.get(status) : undefined) ?? 'unreachable';
  const refused = status >= 300 && status < 500;
  const effectUnknown = call.method !== 'GET' && !refused;
  const isLocked = isJson && body !== '' && isAccountLocked({ status, value: JSON.parse(body) as unknown });
  return new ForgeError(kind, call.label, status === 0 ? null : status, null, effectUnknown, [], isLocked);
}

function isJsonText(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return text === '';
  }
}
