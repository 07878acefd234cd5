import type { APIGatewayProxyEventV2 } from 'aws-lambda';

/** Bytes as the client sent them: the gateway hands over text, or base64 where it is not sure. */
export function readRawBody(event: Pick<APIGatewayProxyEventV2, 'body' | 'isBase64Encoded'>): Buffer {
  return Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8');
}
