import type { IncomingMessage } from 'node:http';
import { peerOf } from '#core/adapters/http-server/http-front.ts';
import type { OneboxConfig } from './config.ts';

/** Reads the caller's address, of requests and of sockets alike. Limits count by it. */
export function callerReader({ behind_proxy }: Pick<OneboxConfig, 'behind_proxy'>): typeof peerOf {
  return behind_proxy ? callerBehindProxy : peerOf;
}

/**
 * The caller's address behind a proxy: the last entry of `X-Forwarded-For`, which the proxy itself adds. The caller can
 * write those before it.
 */
function callerBehindProxy(request: IncomingMessage): string {
  const header = request.headers['x-forwarded-for'];
  const told = (Array.isArray(header) ? header.join(',') : header)?.split(',').at(-1)?.trim();
  return told === undefined || told === '' ? peerOf(request) : told;
}
