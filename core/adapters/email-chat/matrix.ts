import { createHash } from 'node:crypto';
import { NOTICE_TIMEOUT_MS } from '../../domain/api-limits.ts';
import { parseMatrix } from '../../domain/notices/notice-ways.ts';
import type { Notifier } from '../../ports/notifier.ts';
import type { HttpSend } from '../http-guard/http-send.ts';
import { postNotice } from './post-notice.ts';
import { renderMatrix } from './render-chat.ts';

/**
 * Sends to a room by the Matrix client-server API, "Sending events to a room": a PUT under a transaction id, which a
 * homeserver takes once for each access token. `send` is the guarded client, as for chats.
 */
export function createMatrixSender(send: HttpSend): Pick<Notifier, 'sendMatrix'> {
  return {
    async sendMatrix(target, notice, subject) {
      const room = parseMatrix(target.reveal());
      if (room === null) return 'refused';
      const transaction = createHash('sha256').update(subject).digest('hex');
      const path = `rooms/${encodeURIComponent(room.room)}/send/m.room.message/${transaction}`;
      return postNotice(send, {
        method: 'PUT',
        url: `${room.homeserver}/_matrix/client/v3/${path}`,
        headers: { 'content-type': 'application/json', authorization: `Bearer ${room.token}` },
        body: JSON.stringify(renderMatrix(notice)),
        timeoutMs: NOTICE_TIMEOUT_MS,
        bodyBytesMax: 0,
      });
    },
  };
}
