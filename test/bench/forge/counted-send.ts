import type { HttpSend } from '#core/adapters/http-guard/http-send.ts';

export interface Traffic {
  readonly calls: number;
  /** Bodies of requests and answers, without headers. */
  readonly bytes: number;
}

/** A door to the forge that counts what goes through it. */
export function countedSend(send: HttpSend): { readonly send: HttpSend; readonly take: () => Traffic } {
  let calls = 0;
  let bytes = 0;
  return {
    send: async (request) => {
      calls += 1;
      bytes += Buffer.byteLength(request.body ?? '');
      const response = await send(request);
      bytes += response.body.length;
      return response;
    },
    /** Since the last time. */
    take: () => {
      const traffic = { calls, bytes };
      calls = 0;
      bytes = 0;
      return traffic;
    },
  };
}
