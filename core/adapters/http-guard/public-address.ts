import { BlockList, isIP } from 'node:net';

/** IPv4 blocks that are not the public internet, from the IANA special-purpose registry. */
const SPECIAL_IPV4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8], // this network
  ['10.0.0.0', 8], // private
  ['100.64.0.0', 10], // carrier NAT, also used inside clouds
  ['127.0.0.0', 8], // loopback
  ['169.254.0.0', 16], // link-local: instance and task metadata
  ['172.16.0.0', 12], // private
  ['192.0.0.0', 24], // protocol assignments
  ['192.0.2.0', 24], // documentation
  ['192.88.99.0', 24], // 6to4 relay
  ['192.168.0.0', 16], // private
  ['198.18.0.0', 15], // benchmarks
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, broadcast
];

/** Blocks inside 2000::/3 that carry an IPv4 address inside them or are not assigned. */
const SPECIAL_IPV6: readonly (readonly [string, number])[] = [
  ['2001::', 23], // protocol assignments, Teredo among them
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4
  ['3fff::', 20], // documentation
];

const special = new BlockList();
for (const [net, prefix] of SPECIAL_IPV4) special.addSubnet(net, prefix, 'ipv4');
for (const [net, prefix] of SPECIAL_IPV6) special.addSubnet(net, prefix, 'ipv6');

/** All that was ever given out for global unicast; mapped, unique-local and link-local addresses lie outside. */
const reachable = new BlockList();
reachable.addSubnet('2000::', 3, 'ipv6');

/**
 * The prefix of NAT64 (RFC 6052) carries an IPv4 address in its last 32 bits. A network without IPv4 tells every name of
 * an IPv4 host by it (DNS64), and such an address is as public as the one in it.
 */
const NAT64 = '64:ff9b::';
const NAT64_BITS = 96;
reachable.addSubnet(NAT64, NAT64_BITS, 'ipv6');
for (const [net, prefix] of SPECIAL_IPV4) special.addSubnet(`${NAT64}${net}`, NAT64_BITS + prefix, 'ipv6');

/** True for an address of the public internet, in the text form that a resolver or `URL.hostname` gives (A98). */
export function isPublicAddress(address: string): boolean {
  // A zone (`fe80::1%eth0`) exists only for link-local addresses.
  if (address.includes('%')) return false;
  switch (isIP(address)) {
    case 4:
      return !special.check(address, 'ipv4');
    case 6:
      return reachable.check(address, 'ipv6') && !special.check(address, 'ipv6');
    default:
      return false;
  }
}
