import { parseUrl } from './parse-url.ts';

/** `host` or `host:port` as an operator lists it, IPv6 in brackets. Null: it is anything else. */
export function parseHostEntry(entry: string): URL | null {
  const url = parseUrl(`https://${entry}`);
  // An address that parses to anything but host and port held a path, credentials or worse.
  return url !== null && url.href === `https://${url.host}/` && isPlainAuthority(entry) ? url : null;
}

/** Host and port as one writes them: no userinfo, no escapes, no foreign letters (those have a punycode spelling). */
export function isPlainAuthority(authority: string): boolean {
  return /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?$/.test(authority);
}

/** Parts of lists as they are written, separated by commas. */
export function splitHosts(hosts: string): readonly string[] {
  return hosts
    .split(',')
    .map((host) => host.trim())
    .filter((host) => host !== '');
}
