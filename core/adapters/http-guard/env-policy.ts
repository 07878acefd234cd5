import { splitHosts } from '../../domain/host-entry.ts';
import type { GuardedHttpConfig } from './guarded-http.ts';

/** Hosts as `host` or `host:port`, separated by commas; PEM of a private authority or nothing. */
export function readOutboundPolicy(env: {
  readonly FORGE_ALLOW_HOSTS: string;
  readonly FORGE_DENY_HOSTS: string;
  readonly FORGE_CA_PEM: string;
}): GuardedHttpConfig {
  return {
    allowHosts: splitHosts(env.FORGE_ALLOW_HOSTS),
    denyHosts: splitHosts(env.FORGE_DENY_HOSTS),
    ...(env.FORGE_CA_PEM === '' ? {} : { caPem: env.FORGE_CA_PEM }),
  };
}
