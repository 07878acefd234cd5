import { createGuardedHttp } from '#core/adapters/http-guard/guarded-http.ts';
import type { HttpSend } from '#core/adapters/http-guard/http-send.ts';
import type { OneboxConfig } from './config.ts';
import type { Stops } from './stops.ts';

/** Opens the one way out: every call that leaves the process goes through it. */
export function openOutbound(
  config: OneboxConfig,
  publicUrl: string,
  stops: Stops,
  aroundSend: (send: HttpSend) => HttpSend = (send) => send,
) {
  const policy = {
    allowHosts: [new URL(config.forge.url).host],
    // The service may share the forge's name, behind another port; else its own name is no forge.
    denyHosts: hostNameOf(publicUrl) === hostNameOf(config.forge.url) ? [] : [new URL(publicUrl).host],
    ...(config.caPem === null ? {} : { caPem: config.caPem }),
  };
  const http = createGuardedHttp(policy);
  stops.push(() => http.close());
  return { policy, send: aroundSend(http.send) };
}

function hostNameOf(url: string): string {
  return new URL(url).hostname;
}
