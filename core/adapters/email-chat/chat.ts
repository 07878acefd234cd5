import { NOTICE_TIMEOUT_MS } from '../../domain/api-limits.ts';
import { isChatUrl } from '../../domain/notices/notice-ways.ts';
import type { Notifier } from '../../ports/notifier.ts';
import type { HttpSend } from '../http-guard/http-send.ts';
import { postNotice } from './post-notice.ts';
import { CHAT_RENDERERS } from './render-chat.ts';

/**
 * Sends to chats. `send` is the guarded client: public addresses only, no redirect, checked again for each connection
 * (A98).
 */
export function createChatSender(send: HttpSend): Pick<Notifier, 'sendChat'> {
  return {
    async sendChat(chat, url, notice) {
      const target = url.reveal();
      // Checked when it was stored, and again: the list of hosts may have changed since, and a row may be damaged (D-87).
      if (!isChatUrl(chat, target)) return 'refused';
      return postNotice(send, {
        method: 'POST',
        url: target,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(CHAT_RENDERERS[chat](notice)),
        timeoutMs: NOTICE_TIMEOUT_MS,
        bodyBytesMax: 0,
      });
    },
  };
}
