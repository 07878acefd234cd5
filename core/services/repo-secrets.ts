import { AppError } from '../contracts/errors.ts';
import { CHAT_NAMES, type NotificationTargets } from '../domain/notification.ts';
import type { ManagedRepo } from '../domain/repo.ts';
import { chatOwner, isSealed, webhookSecretOwner } from '../domain/sealed-text.ts';
import type { SecretBox } from '../ports/secret-box.ts';
import { VaultError } from '../ports/system.ts';
import { Secret } from '../secret.ts';

type RowName = Pick<ManagedRepo, 'id' | 'tenantId'>;

export async function sealWebhookSecret(
  box: Pick<SecretBox, 'seal'>,
  repo: RowName & Pick<ManagedRepo, 'webhookSecretOf'>,
  secret: Secret<string>,
): Promise<Secret<string>> {
  return new Secret(await box.seal(webhookSecretOwner(repo), secret.reveal()));
}

/** As they are stored: the addresses of chats are credentials, the mailbox is none. */
export async function sealTargets(
  box: Pick<SecretBox, 'seal'>,
  repo: RowName,
  targets: NotificationTargets,
): Promise<NotificationTargets> {
  return withChats(targets, (url) => box.seal(chatOwner(repo), url));
}

/** As they are used. */
export async function openTargets(
  box: Pick<SecretBox, 'open'>,
  repo: RowName,
  targets: NotificationTargets,
): Promise<NotificationTargets> {
  return withChats(targets, async (url) => (await box.open(chatOwner(repo), url)).reveal());
}

async function withChats(
  targets: NotificationTargets,
  convert: (url: string) => Promise<string>,
): Promise<NotificationTargets> {
  const chats = await Promise.all(
    CHAT_NAMES.map(async (chat) => {
      const url = targets[chat];
      return [chat, url === null ? null : await convert(url)] as const;
    }),
  );
  return { ...targets, ...Object.fromEntries(chats) };
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
