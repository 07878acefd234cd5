import middy from '@middy/core';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { readSiteFiles } from '#core/adapters/site-files/site-files.ts';
import type { DashboardConfig } from '#core/contracts/internal/dashboard.ts';
import { answerWithEnvelope } from '#core/http/error-middleware.ts';
import { createLog } from '#core/telemetry.ts';
import { SiteEnv } from './env.ts';
import { createSite, type SiteResponse } from './serve.ts';

const env = SiteEnv.parse(process.env);
const signIn: DashboardConfig['sign_in'] =
  env.SIGN_IN_KIND === 'gotrue'
    ? { kind: 'gotrue', url: env.SIGN_IN_URL, api_key: env.SIGN_IN_API_KEY }
    : {
        kind: 'cognito',
        domain: env.SIGN_IN_URL,
        client_id: env.SIGN_IN_CLIENT_ID,
        endpoint: env.SIGN_IN_ENDPOINT,
      };
// Beside the bundle, in the same asset: code and page are deployed in one step.
const files = readSiteFiles(new URL('./files/', import.meta.url));
const serve = createSite(files, { sign_in: signIn, sign_up: env.SIGN_UP, sends_mail: env.SENDS_MAIL });

async function answer(event: APIGatewayProxyEventV2): Promise<SiteResponse> {
  return serve(event);
}

export const handler = middy(answer).use(
  answerWithEnvelope(createLog({ service: 'site' }), env.REQUIRED_STAMP),
);
