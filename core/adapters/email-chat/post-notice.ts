import type { SendResult } from '../../ports/notifier.ts';
import { type HttpRequest, type HttpSend, HttpSendError } from '../http-guard/http-send.ts';

/** Sends one request, never repeated, and reads the status alone. */
export async function postNotice(send: HttpSend, request: HttpRequest): Promise<SendResult> {
  try {
    return judge((await send(request)).status);
  } catch (error) {
    if (!(error instanceof HttpSendError)) throw error;
    return error.kind === 'refused' ? 'refused' : 'failed';
  }
}

function judge(status: number): SendResult {
  if (status >= 200 && status < 300) return 'sent';
  return status === 408 || status === 429 || status >= 500 ? 'failed' : 'refused';
}
