import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { PAYMENT_SIGNATURE_HEADER } from '#core/contracts/webhooks/payment-signature.ts';
import { readRawBody } from '#core/http/lambda-http.ts';
import { readHeader } from '#core/http/read-header.ts';
import { type HttpResponse, respondJson } from '#core/http/respond.ts';
import { acceptPaymentEvent, type PaymentEventDeps } from '#core/services/billing/accept-payment-event.ts';

/** One event of the payment provider. What came of it is not the provider's business (D-60). */
export function createPaymentsWebhook(
  deps: PaymentEventDeps,
): (event: APIGatewayProxyEventV2) => Promise<HttpResponse> {
  return async (event) => {
    await acceptPaymentEvent(deps, {
      body: readRawBody(event),
      signature: readHeader(event.headers, PAYMENT_SIGNATURE_HEADER),
    });
    return respondJson(200, { received: true });
  };
}
