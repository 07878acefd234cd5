import { CHAT_DESTINATIONS } from '#core/domain/notification.ts';

export const CHAT_A_HINT = `https://${CHAT_DESTINATIONS.chatA.hosts[0]}${CHAT_DESTINATIONS.chatA.pathPrefix}…`;
export const CHAT_B_HINT = `https://${CHAT_DESTINATIONS.chatB.hosts[0]}${CHAT_DESTINATIONS.chatB.pathPrefix}…`;

/** Properties of a field for an address: where nothing is sent, it says so. */
export function mailHint(sendsMail: boolean): { readonly hint?: string } {
  return sendsMail
    ? {}
    : { hint: 'This deployment sends no mail: an address is kept, and nothing is sent to it.' };
}
