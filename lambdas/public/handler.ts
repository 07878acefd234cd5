import middy from '@middy/core';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { AppError } from '#core/contracts/errors.ts';
import { answerWithEnvelope } from '#core/http/error-middleware.ts';
import type { HttpResponse } from '#core/http/respond.ts';
import { createLog } from '#core/telemetry.ts';
import { PublicEnv } from './env.ts';

PublicEnv.parse(process.env);
const log = createLog({ service: 'public' });

/** What no route matches. A wrong method on a known path is 404 as well (D-77). */
function answerUnknownRoute(_event: APIGatewayProxyEventV2): Promise<HttpResponse> {
  return Promise.reject(new AppError('not_found'));
}

export const handler = middy(answerUnknownRoute).use(answerWithEnvelope(log));
