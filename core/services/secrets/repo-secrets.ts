import { AppError } from '../../contracts/errors.ts';
import {
  type NotificationTargets,
  SECRET_WAYS,
  secretOf,
  withSecret,
} from '../../domain/notices/notice-ways.ts';
import type { ManagedRepo } from '../../domain/repos/repo.ts';
import { chatOwner, isSealed, webhookSecretOwner } from '../../domain/sealed-text.ts';
import type { SecretBox } from '../../ports/secret-box.ts';
import { VaultError } from '../../ports/system.ts';
import { Secret } from '../../secret.ts';

type RowName = Pick<ManagedRepo, 'id' | 'tenantId'>;

export async function sealWebhookSecret(
  box: Pick<SecretBox, 'seal'>,
  repo: RowName & Pick<ManagedRepo, 'webhookSecretOf'>,
  secret: Secret<string>,
): Promise<Secret<string>> {
  return new Secret(await box.seal(webhookSecretOwner(repo), secret.reveal()));
}

/** As they are stored: the addresses of chats and what else sends there are credentials, the mailbox is none. */
export async function sealTargets(
  box: Pick<SecretBox, 'seal'>,
  repo: RowName,
  targets: NotificationTargets,
): Promise<NotificationTargets> {
  return withSecrets(targets, (url) => box.seal(chatOwner(repo), url));
}

/** As they are used. */
export async function openTargets(
  box: Pick<SecretBox, 'open'>,
  repo: RowName,
  targets: NotificationTargets,
): Promise<NotificationTargets> {
  return withSecrets(targets, async (url) => (await box.open(chatOwner(repo), url)).reveal());
}

async function withSecrets(
  targets: NotificationTargets,
  convert: (text: string) => Promise<string>,
): Promise<NotificationTargets> {
  const changed = await Promise.all(
    SECRET_WAYS.map(async (way) => {
      const target = targets[way];
      if (target === null) return [way, null] as const;
      return [way, withSecret(way, target, await convert(secretOf(way, target)))] as const;
    }),
  );
  return { ...targets, ...Object.fromEntries(changed) };
}

/**
 * Seals what the row holds in plain text, from before such texts were sealed. The change leaves alone what another
 * writer has replaced meanwhile.
 */
export async function sealOldSecrets(
  box: Pick<SecretBox, 'seal'>,
  repo: ManagedRepo,
): Promise<(current: ManagedRepo) => Partial<ManagedRepo>> {
  const { webhookSecret: secret, notification: targets } = repo;
  const isPlain = secret !== null && !isSealed(secret.reveal());
  const webhookSecret = isPlain ? await sealWebhookSecret(box, repo, secret) : secret;
  const notification = targets === null ? null : await sealTargets(box, repo, targets);
  return (current) => ({
    ...(current.webhookSecret?.reveal() === secret?.reveal() ? { webhookSecret } : {}),
    ...(JSON.stringify(current.notification) === JSON.stringify(targets) ? { notification } : {}),
  });
}

/** A key service that does not answer has a code of its own on the routes. */
export async function orDecryptionError<T>(run: Promise<T>): Promise<T> {
  try {
    return await run;
  } catch (error) {
    if (error instanceof VaultError) throw new AppError('decryption_error');
    throw error;
  }
}
