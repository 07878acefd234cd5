import { createForgeReader } from '#core/adapters/forge-http/reader.ts';
import { createForgeTransport } from '#core/adapters/forge-http/wire/transport.ts';
import type { HttpSend } from '#core/adapters/http-guard/http-send.ts';
import { GLANCE_TIMEOUT_MS } from '#core/domain/limits.ts';
import type { GlanceAnswer, GlanceRequest, IdleLooker } from '#core/ports/idle-look.ts';
import type { Clock } from '#core/ports/system.ts';
import { glanceAt } from '../engine-container/src/idle/glance-at-forge.ts';
import { lookForWork } from '../engine-container/src/idle/idle-look.ts';

/** Idle looks and glances within this process. `send` keeps the pace that a forge has asked for. */
export function createLooker(send: HttpSend, clock: Clock): IdleLooker {
  const readerOf = ({ instanceUrl, repoSlug: slug, token }: GlanceRequest) =>
    createForgeReader(createForgeTransport({ instanceUrl, slug, token, send, clock }));
  return {
    look: (request) => lookForWork(readerOf(request), clock, request),
    async glance(request) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<GlanceAnswer>((resolve) => {
        timer = setTimeout(() => resolve({ kind: 'failed' }), GLANCE_TIMEOUT_MS);
      });
      try {
        return await Promise.race([glanceAt(readerOf(request), request), late]);
      } finally {
        clearTimeout(timer);
      }
    },
  };
}
