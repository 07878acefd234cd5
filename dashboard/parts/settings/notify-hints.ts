import { CHATS, type Chat } from '#core/domain/notices/notice-ways.ts';

export function chatHint(chat: Chat): string {
  return `https://${CHATS[chat].hosts[0]}${CHATS[chat].pathPrefix}…`;
}

/** Properties of a field for an address: where nothing is sent, it says so. */
export function mailHint(sendsMail: boolean): { readonly hint?: string } {
  return sendsMail
    ? { hint: 'The reader confirms the address by a link before the first notice.' }
    : { hint: 'This deployment sends no mail: an address is kept, and nothing is sent to it.' };
}
