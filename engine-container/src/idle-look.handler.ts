import { createForgeReader } from '#core/adapters/forge-http/reader.ts';
import { createForgeTransport } from '#core/adapters/forge-http/wire/transport.ts';
import { readOutboundPolicy } from '#core/adapters/http-guard/env-policy.ts';
import { createGuardedHttp } from '#core/adapters/http-guard/guarded-http.ts';
import { readForgeAuthority } from '#core/adapters/parameter-store/forge-authority.ts';
import { createSystemClock } from '#core/adapters/system/clock.ts';
import { IdleLookEnv } from '#core/contracts/internal/env.ts';
import { readGlanceRequest, readLookRequest } from '#core/contracts/internal/idle-look.ts';
import type { GlanceAnswer, GlanceRequest, LookAnswer } from '#core/ports/idle-look.ts';
import { glanceAt } from './idle/glance-at-forge.ts';
import { lookForWork } from './idle/idle-look.ts';

const env = IdleLookEnv.parse(process.env);
const clock = createSystemClock();
const authority = await readForgeAuthority(env.FORGE_CA_PARAMETER);
const { send } = createGuardedHttp(readOutboundPolicy({ ...env, FORGE_CA_PEM: authority }));

/** Holds no right to anything but certificates of private forges: the forge and the token are in the request. */
export async function handler(event: unknown): Promise<LookAnswer | GlanceAnswer> {
  const glance = readGlanceRequest(event);
  if (glance !== null) return glanceAt(readerOf(glance), glance);
  const request = readLookRequest(event);
  if (request === null) throw new Error('not a request for an idle look');
  return lookForWork(readerOf(request), clock, request);
}

function readerOf({ instanceUrl, repoSlug: slug, token }: GlanceRequest) {
  return createForgeReader(createForgeTransport({ instanceUrl, slug, token, send, clock }));
}
