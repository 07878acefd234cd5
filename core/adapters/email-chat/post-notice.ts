import { setTimeout as pause } from 'node:timers/promises';
import type { SendResult } from '../../ports/notifier.ts';
import { type HttpRequest, type HttpSend, HttpSendError } from '../http-guard/http-send.ts';

/** Where a 429 names no wait: Slack takes one message a second (https://docs.slack.dev/apis/web-api/rate-limits). */
const BUSY_PAUSE_MS = 1_000;
/** Left for the exchange after a wait. */
const EXCHANGE_MS_MIN = 500;
const SECONDS = /^\d{1,6}(\.\d{1,6})?$/;

/**
 * Sends one request, and reads status and wait alone. It is repeated after a 429 alone, which says that nothing was taken, and
 * within the time limit of the request: several pull requests that are bounced at once are more than a chat takes in a second.
 */
export async function postNotice(send: HttpSend, request: HttpRequest): Promise<SendResult> {
  const end = performance.now() + request.timeoutMs;
  try {
    for (;;) {
      const timeoutMs = Math.ceil(end - performance.now());
      const { status, headers } = await send({ ...request, timeoutMs });
      const pauseMs = readPauseMs(headers['retry-after']);
      if (status !== 429 || performance.now() + pauseMs + EXCHANGE_MS_MIN > end) return judge(status);
      await pause(pauseMs);
    }
  } catch (error) {
    if (!(error instanceof HttpSendError)) throw error;
    return error.kind === 'refused' ? 'refused' : 'failed';
  }
}

/** Seconds of the header, with a fraction at some services; a date is as good as none. */
function readPauseMs(text: string | undefined): number {
  const isTold = text !== undefined && SECONDS.test(text);
  return isTold ? Math.max(Number(text) * 1_000, BUSY_PAUSE_MS / 10) : BUSY_PAUSE_MS;
}

function judge(status: number): SendResult {
  if (status >= 200 && status < 300) return 'sent';
  return status === 408 || status === 429 || status >= 500 ? 'failed' : 'refused';
}
