import type { Notice } from '../../domain/notices/notice.ts';
import { NOTICE_WAYS, type NoticeTopic, type NoticeWay, waysOf } from '../../domain/notices/notice-topics.ts';
import { type NotificationTargets, noSecretWays } from '../../domain/notices/notice-ways.ts';
import type { ManagedRepo } from '../../domain/repos/repo.ts';
import type { Notifier } from '../../ports/notifier.ts';
import type { SecretBox } from '../../ports/secret-box.ts';
import { VaultError } from '../../ports/system.ts';
import { Secret } from '../../secret.ts';
import { openTargets } from '../secrets/repo-secrets.ts';
import { type MailDeps, sendMail } from './send-mail.ts';
import { type NoticeFields, tell } from './tell.ts';

export interface PlaceDeps extends MailDeps {
  readonly secrets: Pick<SecretBox, 'open'>;
  readonly notifier: Notifier;
}

/** Places of a repository that are to be told of a topic. */
export async function placesFor(
  deps: PlaceDeps,
  repo: ManagedRepo,
  topic: NoticeTopic,
): Promise<readonly Place[]> {
  const ways = waysOf(repo, topic);
  if (ways.length === 0) return [];
  return placesOf(await openOf(deps, repo), repo.slug).filter(({ way }) => ways.includes(way));
}

/** One, or none. Addresses that do not open are left out: the mailbox is told all the same. */
export async function openOf(deps: PlaceDeps, repo: ManagedRepo): Promise<readonly NotificationTargets[]> {
  const { notification } = repo;
  if (notification === null) return [];
  try {
    return [await openTargets(deps.secrets, repo, notification)];
  } catch (error) {
    if (!(error instanceof VaultError)) throw error;
    deps.log.warn('the addresses of a chat do not open', {
      tenant_id: repo.tenantId,
      repo_id: repo.id,
      error,
    });
    return [{ email: notification.email, ...noSecretWays() }];
  }
}

type PlainWay = Exclude<NoticeWay, 'webhook'>;
const PLAIN_WAYS = NOTICE_WAYS.filter((way): way is PlainWay => way !== 'webhook');

export interface Place {
  /** The webhook has deliveries of its own. */
  readonly way: PlainWay;
  readonly address: string;
  /** Of a repository that names the place; null: the payment provider gave it. */
  readonly slug: string | null;
}

export function placesOf(targets: readonly NotificationTargets[], slug: string | null): readonly Place[] {
  return once(
    targets.flatMap((target) =>
      PLAIN_WAYS.flatMap((way) => {
        const address = target[way];
        return address === null ? [] : [{ way, address, slug }];
      }),
    ),
  );
}

/** Each place once, in the order given. */
export function once(places: readonly Place[]): readonly Place[] {
  const found = new Map<string, Place>();
  for (const place of places) {
    const name = `${place.way} ${place.address}`;
    if (!found.has(name)) found.set(name, place);
  }
  return [...found.values()];
}

export async function sendNotice(
  deps: PlaceDeps,
  places: readonly Place[],
  notice: Notice,
  fields: NoticeFields,
  /** Names what is told: the same when it is told again. */
  subject: readonly unknown[],
): Promise<void> {
  await Promise.all(
    places.map(({ way, address, slug }) =>
      way === 'email'
        ? sendMail(deps, { address, slug }, notice, fields)
        : tell(deps, { ...fields, way }, () =>
            way === 'matrix'
              ? deps.notifier.sendMatrix(new Secret(address), notice, JSON.stringify(subject))
              : deps.notifier.sendChat(way, new Secret(address), notice),
          ),
    ),
  );
}
