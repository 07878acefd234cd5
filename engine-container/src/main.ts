import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createEmfMeter } from '#core/adapters/cloudwatch/emf-meter.ts';
import { createEngineStore } from '#core/adapters/dynamo/engine-store.ts';
import { createLeaseStore } from '#core/adapters/dynamo/lease-store.ts';
import { Table } from '#core/adapters/dynamo/table/table.ts';
import { createEngineForge } from '#core/adapters/forge-http/engine-forge.ts';
import { ForgePace } from '#core/adapters/forge-http/wire/forge-pace.ts';
import { countBytes } from '#core/adapters/http-guard/count-bytes.ts';
import { readOutboundPolicy } from '#core/adapters/http-guard/env-policy.ts';
import { createGuardedHttp } from '#core/adapters/http-guard/guarded-http.ts';
import { createSystemClock } from '#core/adapters/system/clock.ts';
import { createUuidIds } from '#core/adapters/system/ids.ts';
import { Secret } from '#core/secret.ts';
import { createLog } from '#core/telemetry.ts';
import { EngineEnv } from './env.ts';
import { createReconciler } from './reconcile/reconciler.ts';
import { createEngineServer } from './server.ts';

const env = EngineEnv.parse(process.env);
const log = createLog({ service: 'engine' });
const clock = createSystemClock();
const table = new Table({
  client: DynamoDBDocumentClient.from(new DynamoDBClient({})),
  tableName: env.TABLE_NAME,
  clock,
});
// Of the store, only what the engine calls is in its bundle.
const store = { ...createEngineStore(table), ...createLeaseStore(table) };
const http = createGuardedHttp(readOutboundPolicy(env));
// One for all repositories: a forge counts the calls of all of them.
const send = new ForgePace(clock).pace(http.send);
const runReconcile = createReconciler({
  store,
  clock,
  ids: createUuidIds(),
  log,
  confirmBounce: env.CONFIRM_BOUNCE,
  serviceUrl: env.PUBLIC_URL.replace(/\/+$/, ''),
  ...(env.METRICS_DEPLOYMENT === '' ? {} : { meter: createEmfMeter({ deployment: env.METRICS_DEPLOYMENT }) }),
  forgeFor: (request, held, mayRead, onCall, onAnswer) =>
    createEngineForge(held, {
      instanceUrl: request.instanceUrl,
      slug: request.repoSlug,
      token: request.token,
      send: countBytes(send, onCall, onAnswer),
      clock,
      mayRead,
    }),
});
const server = createEngineServer({ secrets: [new Secret(env.CONTAINER_SECRET)], clock, log, runReconcile });

server.listen(env.PORT, env.LISTEN_HOST, () => log.info('listening', { port: env.PORT }));

// A reconcile in progress is finished; the platform's stop time-out is longer than one takes.
process.once('SIGTERM', () => {
  log.info('stopping');
  server.close(() => {
    http.close();
    log.info('stopped');
  });
  server.closeIdleConnections();
});
