import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { readRawBody } from '#core/http/lambda-http.ts';
import { arrivalOf } from '#core/http/limit-rate.ts';
import { readHeader } from '#core/http/read-header.ts';
import { type HttpResponse, respondJson } from '#core/http/respond.ts';
import { viewerNetwork } from '#core/http/viewer-address.ts';
import { acceptForgeWebhook, type WebhookDeps } from '#core/services/webhooks/accept-forge-webhook.ts';

/** One delivery of a forge, under whatever names it gives its headers. */
export function createForgeWebhook(
  deps: WebhookDeps,
  edgeStamp = '',
): (event: APIGatewayProxyEventV2) => Promise<HttpResponse> {
  return async (event) => {
    const { headers } = event;
    const outcome = await acceptForgeWebhook(deps, {
      body: readRawBody(event),
      signature: readHeader(headers, 'x-hub-signature-256'),
      eventType: readHeader(headers, 'x-forgejo-event', 'x-gitea-event', 'x-github-event', 'x-gogs-event'),
      deliveryId: readHeader(headers, 'x-forgejo-delivery', 'x-gitea-delivery', 'x-github-delivery'),
      hookId: event.queryStringParameters?.r,
      sender: viewerNetwork(arrivalOf(event), edgeStamp),
    });
    return respondJson(200, { outcome });
  };
}
