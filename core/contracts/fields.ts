import * as z from 'zod';
import {
  BASE_BRANCH_CHARS_MAX,
  BOT_LOGIN_CHARS_MAX,
  GATE_CONTEXT_CHARS_MAX,
  INSTANCE_URL_CHARS_MAX,
  LABEL_CHARS_MAX,
  STATUS_CONTEXT_CHARS_MAX,
  TOKEN_CHARS_MAX,
} from '../domain/api-limits.ts';
import { DEFAULT_OWN_BRANCHES } from '../domain/queue/queue-names.ts';
import { MERGE_STYLES } from '../domain/repos/merge-style.ts';
import { WAKEUP_MODES } from '../domain/set-up/provisioning.ts';
import { normalizeInstanceUrl, SLUG_CHARS_MAX, SLUG_PATTERN } from '../domain/url.ts';
import { HttpsUrl } from './internal/reconcile.ts';

/** Printable ASCII without space, quote and backslash: one byte each in the internal request's JSON (D-88). */
const PLAIN = /^[!#-[\]-~]+$/;

/** Ids that we made. Told as UUIDs, not checked on the way out: one odd row must not hide a whole list. */
export const Uuid = z.string().meta({ format: 'uuid' });
export const Time = z.iso.datetime({ precision: 3 });

export const InstanceUrl = z
  .string()
  .max(INSTANCE_URL_CHARS_MAX)
  // Others of the tenant read it, and addresses of pages begin with it: neither credentials nor a query nor a fragment.
  .regex(/^[hH][tT][tT][pP][sS]:\/\/(?![/:])(?![^/]*@)[!$->@-[\]-~]+$/)
  .refine((text) => HttpsUrl.safeParse(text).success && normalizeInstanceUrl(text) !== null);
export const ForgeToken = z.string().min(1).max(TOKEN_CHARS_MAX).regex(PLAIN);
export const BotLogin = z.string().min(1).max(BOT_LOGIN_CHARS_MAX).regex(PLAIN);
/** Covers Gitea: what a forge can do is probed, not named (D-92). */
export const ForgeType = z.literal('forgejo');

export const Slug = z.string().max(SLUG_CHARS_MAX).regex(SLUG_PATTERN);
const BRANCH =
  /^(?![-./])(?!(?:refs|heads|tags|pull|remotes|notes)\/)(?!.*(?:\.\.|\/\/|\/\.|@\{|\.lock(?:\/|$)))[!#-)+-9;->@-Z_-}]+(?<![./])$/;
/**
 * A name that git takes for a branch, as far as it matters here. None that git may take for another reference either, which comes
 * first: Forgejo fetches the base of a merge by its bare name, and `heads/main` is the branch `main` then (forge facts, 3.5). None of
 * the queue's own, which follow the service's name and so are refused by the service (D-91); documents show the pattern for the name
 * that a deployment has unless it sets another.
 */
export const BaseBranch = z
  .string()
  .min(1)
  .max(BASE_BRANCH_CHARS_MAX)
  .regex(BRANCH)
  .meta({ pattern: BRANCH.source.replace('^', `^(?!${DEFAULT_OWN_BRANCHES})`) });
/** D-68: nothing that is a pattern on the forge, nothing that needs escaping in a log. */
export const StatusContext = z
  .string()
  .trim()
  .min(1)
  .max(STATUS_CONTEXT_CHARS_MAX)
  .regex(/^(?=.*[^ ])[A-Za-z0-9._/ -]+$/);
/** A context of another CI, or a pattern of such. */
export const GateContext = z
  .string()
  .min(1)
  .max(GATE_CONTEXT_CHARS_MAX)
  .regex(/^[!-~](?:[ -~]*[!-~])?$/);
export const GateAuthor = BotLogin;
/** Name of a label as the forge has it, printable ASCII. */
export const LabelName = z
  .string()
  .min(1)
  .max(LABEL_CHARS_MAX)
  .regex(/^[!-~](?:[ -~]*[!-~])?$/, {
    error: 'expected printable ASCII, no blank at either end',
  });
export const MergeStyle = z.enum(MERGE_STYLES);
export const WakeupMode = z.enum(WAKEUP_MODES);

export function formatTime(at: number): string {
  return new Date(at).toISOString();
}

export function formatTimeOrNull(at: number | null | undefined): string | null {
  return at === null || at === undefined ? null : formatTime(at);
}
