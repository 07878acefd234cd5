import { isIP } from 'node:net';
import { isPlainAuthority, parseHostEntry } from '../../domain/host-entry.ts';
import { parseUrl } from '../../domain/parse-url.ts';
import { isPublicAddress } from './public-address.ts';

export interface OutboundPolicy {
  /**
   * Private forges that the operator vouches for, as `host` (port 443) or `host:port`; IPv6 in brackets. Lifts the
   * address, name and port rules for exactly that host and port. https stays demanded, redirects stay unfollowed.
   */
  readonly allowHosts: readonly string[];
  /** Our own public names, which no tenant may have us call. Wins over `allowHosts`. @default none */
  readonly denyHosts?: readonly string[];
}

export interface OutboundRules {
  readonly allowed: ReadonlySet<string>;
  readonly denied: ReadonlySet<string>;
}

export type OutboundUrl =
  | { readonly ok: true; readonly url: URL; readonly host: string; readonly vouchedFor: boolean }
  | { readonly ok: false };

/** Characters of a URL: more than any forge's or chat's address has. */
const URL_CHARS_MAX = 2048;

/** Suffixes that name machines of a private network. */
const NEAR_SUFFIXES: readonly string[] = [
  '.localhost',
  '.local',
  '.localdomain',
  '.internal',
  '.intranet',
  '.private',
  '.corp',
  '.home',
  '.lan',
  '.home.arpa',
];
/** Suffixes that name machines of this service's own network beside them. */
const INSIDE_SUFFIXES: readonly string[] = [
  ...NEAR_SUFFIXES,
  '.amazonaws.com',
  '.api.aws',
  '.on.aws',
  '.cloudfront.net',
  '.amazonaws.com.cn',
];

/**
 * Compiles a policy. Throws on an entry that is not `host` or `host:port`, because a list that silently allows nothing
 * or too much is worse.
 */
export function compileOutboundPolicy(policy: OutboundPolicy): OutboundRules {
  return {
    allowed: new Set(policy.allowHosts.map((entry) => hostAndPort(parseEntry(entry)))),
    denied: new Set((policy.denyHosts ?? []).map((entry) => parseEntry(entry).hostname)),
  };
}

function parseEntry(entry: string): URL {
  const url = parseHostEntry(entry);
  if (url === null) throw new Error('outbound host list: an entry is not host or host:port');
  return url;
}

function hostAndPort(url: URL): string {
  return `${url.hostname}:${url.port === '' ? '443' : url.port}`;
}

/**
 * Judges a URL as far as that is possible without resolving its name (A98). The spelling comes first: an honest person
 * types nothing that the URL parser would repair silently (tabs, backslashes, full-width digits, missing slashes).
 */
export function checkOutboundUrl(text: string, rules: OutboundRules): OutboundUrl {
  const authority = /^https:\/\/([^/?#]+)/i.exec(text)?.[1];
  if (authority === undefined || text.length > URL_CHARS_MAX || !isPlainAuthority(authority)) {
    return { ok: false };
  }
  // Printable ASCII without backslash.
  const url = /^[!-[\]-~]+$/.test(text) ? parseUrl(text) : null;
  if (url === null) return { ok: false };
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (url.protocol !== 'https:' || url.username !== '' || url.password !== '') return { ok: false };
  if (rules.denied.has(url.hostname)) return { ok: false };
  const vouchedFor = rules.allowed.has(hostAndPort(url));
  if (!vouchedFor && (url.port !== '' || !isPublicHost(host))) return { ok: false };
  return { ok: true, url, host, vouchedFor };
}

/** Whether a host is this machine or of a private network, as far as its name or address tells. */
export function isNearHost(host: string): boolean {
  if (isIP(host) !== 0) return !isPublicAddress(host);
  const name = host.toLowerCase();
  return /^[a-z0-9-]+$/.test(name) || NEAR_SUFFIXES.some((suffix) => name.endsWith(suffix));
}

/** `host` as the URL parser spells it: odd forms of IPv4 addresses are dotted quads by now. */
function isPublicHost(host: string): boolean {
  if (isIP(host) !== 0) return isPublicAddress(host);
  // One label is a name of the local network, and a trailing dot dodges every comparison by suffix.
  if (!host.includes('.') || host.endsWith('.')) return false;
  return !INSIDE_SUFFIXES.some((suffix) => host.endsWith(suffix));
}
