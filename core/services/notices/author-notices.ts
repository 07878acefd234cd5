import { AppError } from '../../contracts/errors.ts';
import type { ShownAuthorNotices } from '../../contracts/notices/author-notices.ts';
import {
  AUTHOR_LOGINS_MAX,
  AUTHOR_PROOF_MS,
  MAIL_CONFIRMS_AT_ONCE_MAX,
  WEEK_MS,
  WHO_AM_I_TIMEOUT_MS,
} from '../../domain/api-limits.ts';
import type { TenantId } from '../../domain/ids.ts';
import type { PullTopic } from '../../domain/notices/notice-topics.ts';
import { normalizeInstanceUrl } from '../../domain/url.ts';
import type { RateStore } from '../../ports/account-store.ts';
import type { AuthorNotices, AuthorStore } from '../../ports/author-store.ts';
import { ForgeError } from '../../ports/forge.ts';
import type { CheckTarget, OpenForgeAccount } from '../../ports/forge-account.ts';
import type { ForgeLogin } from '../../ports/identity.ts';
import type { MailboxStore } from '../../ports/mailbox-store.ts';
import type { NoticeRequestStore } from '../../ports/notifier.ts';
import type { EnrollmentStore } from '../../ports/store.ts';
import type { Secret } from '../../secret.ts';
import { type AuditDeps, recordChange } from '../tenants/audit.ts';

type ShownStore = Pick<AuthorStore, 'listAuthorNotices' | 'findAuthorNotices'> &
  Pick<MailboxStore, 'readMailboxStates'>;

export interface AuthorDeps extends AuditDeps {
  readonly store: ShownStore &
    AuthorStore &
    NoticeRequestStore &
    AuditDeps['store'] &
    Pick<RateStore, 'takeToken'> &
    Pick<EnrollmentStore, 'createTenant'>;
  readonly openAccount: OpenForgeAccount;
  readonly checkTarget: CheckTarget;
}

/** Who asks: one of several people of a tenant, or the tenant itself. */
export interface Asker {
  readonly tenantId: TenantId;
  /** Name among those who share the tenant; null: the tenant is the person. */
  readonly person: string | null;
  /** The login that the session itself proves; null: none. */
  readonly forge: ForgeLogin | null;
}

export interface WantedAuthorNotices {
  /** Absent: the forge of the session. */
  readonly instanceUrl: string | undefined;
  readonly email: string;
  readonly topics: readonly PullTopic[];
  /** The person's own, held for this call alone; null: none was sent. */
  readonly token: Secret<string> | null;
}

/** The wishes of a person that count: one that a newer proof of another account took over is none of theirs any more. */
export async function readAuthorNotices(
  { store }: { readonly store: ShownStore },
  asker: Pick<Asker, 'tenantId' | 'person'>,
): Promise<readonly ShownAuthorNotices[]> {
  const own = await listOwn(store, asker);
  const holders = await Promise.all(
    own.map(({ instanceUrl, login }) => store.findAuthorNotices(instanceUrl, login)),
  );
  const held = own.filter((_, index) => {
    const holder = holders[index];
    // A proof that has ended is told as long as no other account has the login.
    return holder === null || holder === undefined || holder.tenantId === asker.tenantId;
  });
  const addresses = held.map(({ email }) => email);
  const states = addresses.length === 0 ? null : await store.readMailboxStates(asker.tenantId, addresses);
  return held.map((each) => ({
    ...each,
    endsAt: each.provenAt + AUTHOR_PROOF_MS,
    emailState: states?.get(each.email) ?? null,
  }));
}

/**
 * Stores or ends the wish of a person to be mailed about their own pull requests on one forge. Whose pull requests those
 * are, the forge says: by the session, where that is one of this forge, or once by a token of the person, which is not
 * stored. Throws `AppError`, `StoreError`.
 */
export async function setAuthorNotices(
  deps: AuthorDeps,
  asker: Asker,
  wanted: WantedAuthorNotices,
): Promise<readonly ShownAuthorNotices[]> {
  const { store, clock } = deps;
  const instanceUrl = wanted.instanceUrl ?? asker.forge?.instanceUrl;
  if (instanceUrl === undefined) throw new AppError('missing_fields', { field: 'instance_url' });
  const own = await listOwn(store, asker);
  const known = own.find((each) => isSame(each.instanceUrl, instanceUrl));
  if (wanted.topics.length === 0) {
    if (known !== undefined) await store.removeAuthorNotices(known);
  } else {
    const proof = await prove(deps, asker, known, instanceUrl, wanted.token);
    if (known === undefined && own.length >= AUTHOR_LOGINS_MAX) throw new AppError('author_login_limit');
    const { email, topics } = wanted;
    const { tenantId, person } = asker;
    await store.createTenant(tenantId, clock.now());
    const saved = await store.saveAuthorNotices(
      { tenantId, person, email, topics, ...proof },
      proof.provenAt + AUTHOR_PROOF_MS,
    );
    if (!saved) throw new AppError('queue_locked', { message: 'This account is being deleted.' });
    if (known !== undefined && known.login.toLowerCase() !== proof.login.toLowerCase())
      await store.removeAuthorNotices(known);
    await askReader(deps, tenantId, email, known?.email ?? null);
  }
  await recordChange(deps, asker.tenantId, 'author_notices.set', new URL(instanceUrl).host);
  return readAuthorNotices(deps, asker);
}

type Proof = Pick<AuthorNotices, 'instanceUrl' | 'login' | 'provenAt'>;

async function prove(
  deps: AuthorDeps,
  { forge }: Asker,
  known: AuthorNotices | undefined,
  instanceUrl: string,
  token: Secret<string> | null,
): Promise<Proof> {
  const provenAt = deps.clock.now();
  if (forge !== null && isSame(forge.instanceUrl, instanceUrl)) return { ...forge, provenAt };
  if (token === null) {
    // Another topic or address needs no other proof.
    if (known !== undefined && (await isHeld(deps, known))) {
      const { login, provenAt: earlier } = known;
      return { instanceUrl, login, provenAt: earlier };
    }
    throw new AppError('forge_token_required', {
      message:
        'Prove your login on that forge once: make a token there with the scope read:user; it is not stored. Send it in the header X-Forge-Token.',
    });
  }
  if ((await deps.checkTarget(instanceUrl)) === 'refused')
    throw new AppError('invalid_field', { field: 'instance_url' });
  try {
    const login = await deps.openAccount(instanceUrl, token, WHO_AM_I_TIMEOUT_MS).readBotLogin();
    return { instanceUrl, login, provenAt };
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    if (error.kind !== 'denied') throw new AppError('forge_unreachable');
    throw new AppError('forge_token_refused', {
      message: 'The forge refused your own token: it is not known there, or lacks the scope read:user.',
    });
  }
}

async function isHeld({ store, clock }: AuthorDeps, known: AuthorNotices): Promise<boolean> {
  const holder = await store.findAuthorNotices(known.instanceUrl, known.login);
  return holder?.tenantId === known.tenantId && countsAt(known, clock.now());
}

/** Whether the proof still counts. */
export function countsAt({ provenAt }: Pick<AuthorNotices, 'provenAt'>, now: number): boolean {
  return now < provenAt + AUTHOR_PROOF_MS;
}

/** A new address is asked; the same one once more, while it waits, as often as the owner of a queue may ask. */
async function askReader(
  { store }: AuthorDeps,
  tenantId: TenantId,
  email: string,
  before: string | null,
): Promise<void> {
  const subject = email.toLowerCase();
  if (before?.toLowerCase() !== subject) {
    await store.requestNotice({ kind: 'confirm_mailbox', tenantId, subject, email });
    return;
  }
  const state = (await store.readMailboxStates(tenantId, [email])).get(email) ?? 'waiting';
  if (state !== 'waiting') return;
  const bucket = `confirmation:${tenantId}:${subject}`;
  const token = await store.takeToken(bucket, WEEK_MS, MAIL_CONFIRMS_AT_ONCE_MAX);
  if (token.allowed) await store.requestNotice({ kind: 'confirm_mailbox_again', tenantId, subject, email });
}

async function listOwn(
  store: Pick<AuthorStore, 'listAuthorNotices'>,
  { tenantId, person }: Pick<Asker, 'tenantId' | 'person'>,
): Promise<readonly AuthorNotices[]> {
  return (await store.listAuthorNotices(tenantId)).filter((each) => each.person === person);
}

function isSame(one: string, other: string): boolean {
  const url = normalizeInstanceUrl(one);
  return url !== null && url === normalizeInstanceUrl(other);
}
