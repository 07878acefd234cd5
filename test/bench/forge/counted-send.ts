import type { HttpResponse, HttpSend } from '#core/adapters/http-guard/http-send.ts';

export interface Traffic {
  readonly calls: number;
  /** Bodies of requests and answers, without headers. */
  readonly bytes: number;
}

/** One call, as it looks from outside. Times in ms since the count began. */
export interface SeenCall {
  /** Method, path and query behind the repository, without its name. */
  readonly call: string;
  readonly status: number;
  readonly at: number;
  readonly took: number;
  /** What a pull request says of itself: whether it may be merged, was merged, and the tip of its base. */
  readonly pull?: { readonly mergeable: boolean; readonly merged: boolean; readonly baseTip: string };
}

const NO_TRAFFIC: Traffic = { calls: 0, bytes: 0 };
const REPOSITORY = /^\/api\/v1\/repos\/[^/]+\/[^/]+/;
const PULL = /\/pulls\/\d+$/;
/** Writes that build a batch. */
const BUILDS = /\/(diffpatch|branches)$/;

/** A door to the forge that counts what goes through it. */
export function countedSend(
  send: HttpSend,
  now: () => number,
  tell: (call: SeenCall) => void = () => undefined,
) {
  let sum = NO_TRAFFIC;
  let built: { readonly traffic: Traffic; readonly at: number } | null = null;
  const begunAt = performance.now();
  const countedCall: HttpSend = async (request) => {
    const at = performance.now() - begunAt;
    const response = await send(request);
    const url = new URL(request.url);
    // It keeps caches out, and is no part of the question.
    url.searchParams.delete('_');
    const { pathname, search } = url;
    const bytes = Buffer.byteLength(request.body ?? '') + response.body.length;
    sum = { calls: sum.calls + 1, bytes: sum.bytes + bytes };
    const endedAt = performance.now() - begunAt;
    if (request.method === 'POST' && BUILDS.test(pathname)) built = { traffic: sum, at: now() };
    const call = `${request.method} ${pathname.replace(REPOSITORY, '')}${search}`;
    tell({ call, status: response.status, at, took: endedAt - at, ...pullIn(pathname, response) });
    return response;
  };
  return {
    send: countedCall,
    /** Since the last time. */
    take: (): Traffic => {
      const traffic = sum;
      sum = NO_TRAFFIC;
      built = null;
      return traffic;
    },
    /** The same up to the end of the last write that builds a batch, and when that was; all of it where there was none. */
    takeBuilt: (): { readonly traffic: Traffic; readonly rest: Traffic; readonly at: number } => {
      const { traffic, at } = built ?? { traffic: sum, at: now() };
      const rest = { calls: sum.calls - traffic.calls, bytes: sum.bytes - traffic.bytes };
      sum = NO_TRAFFIC;
      built = null;
      return { traffic, rest, at };
    },
  };
}

function pullIn(pathname: string, { status, body }: HttpResponse): Pick<SeenCall, 'pull'> {
  if (status !== 200 || !PULL.test(pathname)) return {};
  const { mergeable, merged, base } = JSON.parse(body.toString('utf8'));
  return { pull: { mergeable, merged, baseTip: base.sha } };
}
