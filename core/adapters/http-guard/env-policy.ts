import type { GuardedHttpConfig } from './guarded-http.ts';

/** `host`, `host:port`, comma separated; PEM of a private authority or nothing. */
export function readOutboundPolicy(env: {
  readonly FORGE_ALLOW_HOSTS: string;
  readonly FORGE_CA_PEM: string;
}): GuardedHttpConfig {
  const allowHosts = env.FORGE_ALLOW_HOSTS.split(',')
    .map((host) => host.trim())
    .filter((host) => host !== '');
  return { allowHosts, ...(env.FORGE_CA_PEM === '' ? {} : { caPem: env.FORGE_CA_PEM }) };
}
