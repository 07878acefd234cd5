import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { AppError } from '../contracts/errors.ts';
import type { Log } from '../ports/system.ts';
import { type HttpResponse, respondError } from './respond.ts';
import { cameThroughEdge } from './viewer-address.ts';

const REQUEST_ID_HEADER = 'x-request-id';

/**
 * Every error of an HTTP function becomes the envelope, and every answer carries the request's id. With a required stamp, a
 * request that did not come through the distribution finds nothing: it would have passed the rules that stand there.
 */
export function answerWithEnvelope(
  log: Log,
  requiredStamp = '',
): MiddlewareObj<APIGatewayProxyEventV2, HttpResponse> {
  const stamp = (response: HttpResponse, requestId: string): HttpResponse => ({
    ...response,
    headers: { ...response.headers, [REQUEST_ID_HEADER]: requestId },
  });
  return {
    before: ({ event }) => {
      if (!cameThroughEdge(event.headers, requiredStamp)) throw new AppError('not_found');
    },
    after: (request) => {
      if (request.response !== null) {
        request.response = stamp(request.response, request.event.requestContext.requestId);
      }
    },
    onError: (request) => {
      const { requestId } = request.event.requestContext;
      const report = (error: unknown): void =>
        log.error('request failed', { request_id: requestId, route: request.event.routeKey, error });
      request.response = stamp(respondError(request.error, report), requestId);
    },
  };
}
