import ipaddr from 'ipaddr.js';
import { EDGE_STAMP_HEADER, VIEWER_ADDRESS_HEADER } from '../contracts/internal/edge.ts';
import { readHeader } from './read-header.ts';

/** Where a request came from, as the gateway tells it. */
export interface Arrival {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Address of the connection, which is the distribution's own behind one. */
  readonly sourceIp: string;
}

/** Whether the distribution's stamp is on a request. An empty one is asked of no request. */
export function cameThroughEdge(headers: Arrival['headers'], requiredStamp: string): boolean {
  return requiredStamp === '' || readHeader(headers, EDGE_STAMP_HEADER) === requiredStamp;
}

/** One customer of an IPv6 provider has at least this many bits to itself. */
const IPV6_NETWORK_GROUPS = 4;

/**
 * The caller's network as one spelling: an IPv4 address, or the /64 of an IPv6 address. Behind the distribution the
 * connection is the distribution's own, and all callers without a session would share its few addresses. The
 * distribution's word is taken only with the stamp that it adds, because the gateway's own host can be called by any client
 * with any header. An empty stamp trusts no caller.
 */
export function viewerNetwork(arrival: Arrival, edgeStamp: string): string {
  const { headers, sourceIp } = arrival;
  if (edgeStamp === '' || readHeader(headers, EDGE_STAMP_HEADER) !== edgeStamp) return networkOf(sourceIp);
  const told = readHeader(headers, VIEWER_ADDRESS_HEADER);
  return networkOf(told !== undefined && ipaddr.isValid(told) ? told : sourceIp);
}

function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  const { parts } = parsed as ipaddr.IPv6;
  return `${parts
    .slice(0, IPV6_NETWORK_GROUPS)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
}
