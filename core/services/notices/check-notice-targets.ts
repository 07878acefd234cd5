import { AppError } from '../../contracts/errors.ts';
import { CHAT_FIELDS } from '../../contracts/notices/chat-fields.ts';
import { CHAT_NAMES, type NotificationTargets, originOf } from '../../domain/notices/notice-ways.ts';
import type { CheckTarget } from '../../ports/forge-account.ts';

export interface NoticeTargetDeps {
  /** By the rules of the sender, which vouches for no private host unless the forge is beside it. */
  readonly checkNoticeTarget: CheckTarget;
}

/**
 * Before an address of notices is stored: one that leads inside would be refused at each sending, where its owner does not
 * see it (A98). A name that does not resolve now is taken; each sending judges what it resolves to by then.
 */
export async function refuseForbiddenTarget(
  { checkNoticeTarget }: NoticeTargetDeps,
  url: string,
  field: string,
): Promise<void> {
  if ((await checkNoticeTarget(url)) === 'refused') throw new AppError('invalid_field', { field });
}

/** Checks all places that a request names as `refuseForbiddenTarget` does one. Throws `invalid_field` with the first that is refused. */
export async function refuseForbiddenTargets(
  deps: NoticeTargetDeps,
  targets: NotificationTargets | null,
): Promise<void> {
  if (targets === null) return;
  const { matrix } = targets;
  if (matrix !== null) {
    await refuseForbiddenTarget(deps, originOf('matrix', matrix), 'notification.matrix.homeserver');
  }
  for (const chat of CHAT_NAMES) {
    const url = targets[chat];
    if (url !== null) await refuseForbiddenTarget(deps, url, `notification.${CHAT_FIELDS[chat]}`);
  }
}
