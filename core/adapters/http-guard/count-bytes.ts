import type { HttpSend } from './http-send.ts';

/**
 * Wraps a send: `onCall` gets the bytes of the body of each request before it is sent, `onAnswer` those of each answer.
 */
export function countBytes(
  send: HttpSend,
  onCall: (bytes: number) => void,
  onAnswer: (bytes: number) => void,
): HttpSend {
  return async (request) => {
    onCall(request.body === undefined ? 0 : Buffer.byteLength(request.body));
    const answer = await send(request);
    onAnswer(answer.body.length);
    return answer;
  };
}
