import { NOTICE_ANSWER_BYTES_MAX, NOTICE_TIMEOUT_MS } from '../../domain/api-limits.ts';
import { type ChatDestination, isChatUrl } from '../../domain/notification.ts';
import type { Notifier, SendResult } from '../../ports/notifier.ts';
import { type HttpSend, HttpSendError } from '../http-guard/http-send.ts';
import { renderChatA, renderChatB } from './render-chat.ts';

const RENDERERS = { chatA: renderChatA, chatB: renderChatB } as const satisfies Readonly<
  Record<ChatDestination, unknown>
>;

/** `send` is the guarded door: public addresses only, no redirect, checked again for this very connection (A98). */
export function createChatSender(send: HttpSend): Pick<Notifier, 'sendChat'> {
  return {
    async sendChat(destination, url, notice) {
      const target = url.reveal();
      // Checked when it was stored, and again: the list of hosts may have changed since, and a row may be damaged (D-87).
      if (!isChatUrl(destination, target)) return 'refused';
      try {
        const answer = await send({
          method: 'POST',
          url: target,
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(RENDERERS[destination](notice)),
          timeoutMs: NOTICE_TIMEOUT_MS,
          bodyBytesMax: NOTICE_ANSWER_BYTES_MAX,
        });
        return judge(answer.status);
      } catch (error) {
        if (!(error instanceof HttpSendError)) throw error;
        // Nobody needs the rest of such an answer, and the notice is delivered.
        if (error.kind === 'too_large') return 'sent';
        return error.kind === 'refused' ? 'refused' : 'failed';
      }
    },
  };
}

function judge(status: number): SendResult {
  if (status >= 200 && status < 300) return 'sent';
  return status === 408 || status === 429 || status >= 500 ? 'failed' : 'refused';
}
