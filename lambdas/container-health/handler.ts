import middy from '@middy/core';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { createEngineProbe } from '#core/adapters/engine-http/engine-client.ts';
import { createSystemClock } from '#core/adapters/system/clock.ts';
import { answerWithEnvelope } from '#core/http/error-middleware.ts';
import type { HttpResponse } from '#core/http/respond.ts';
import { createLog } from '#core/telemetry.ts';
import { ContainerHealthEnv } from './env.ts';
import { createContainerHealth } from './routes.ts';

const env = ContainerHealthEnv.parse(process.env);
const log = createLog({ service: 'container-health' });
const check = createContainerHealth({
  isHealthy: createEngineProbe(env.ENGINE_URL),
  clock: createSystemClock(),
});

function answer(_event: APIGatewayProxyEventV2): Promise<HttpResponse> {
  return check();
}

export const handler = middy(answer).use(answerWithEnvelope(log));
