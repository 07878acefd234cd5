import type { IncomingMessage } from 'node:http';
import { peerOf } from '#core/adapters/http-server/http-front.ts';
import type { OneboxConfig } from './config.ts';

/** Who calls, of requests and of sockets alike: limits count by this address. */
export function callerReader({ behind_proxy }: Pick<OneboxConfig, 'behind_proxy'>): typeof peerOf {
  return behind_proxy ? callerBehindProxy : peerOf;
}

/**
 * Who calls, as the proxy in front tells it: the last entry of `X-Forwarded-For`, which the proxy itself adds. Those before
 * it are the caller's own to write.
 */
function callerBehindProxy(request: IncomingMessage): string {
  const header = request.headers['x-forwarded-for'];
  const told = (Array.isArray(header) ? header.join(',') : header)?.split(',').at(-1)?.trim();
  return told === undefined || told === '' ? peerOf(request) : told;
}
