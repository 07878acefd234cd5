import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { EDGE_STAMP_HEADER, VIEWER_ADDRESS_HEADER } from '../contracts/edge.ts';
import { readHeader } from './read-header.ts';

const ADDRESS = /^[0-9a-fA-F.:]{2,45}$/;

/**
 * Address of whoever called. Behind the distribution the connection is the distribution's own, and all callers without a
 * session would share its few addresses. Its word is taken only with the stamp that it adds, because the gateway's own host
 * can be called by anybody with any header. An empty stamp trusts nobody.
 */
export function viewerAddress(event: APIGatewayProxyEventV2, edgeStamp: string): string {
  const { sourceIp } = event.requestContext.http;
  if (edgeStamp === '' || readHeader(event.headers, EDGE_STAMP_HEADER) !== edgeStamp) return sourceIp;
  const told = readHeader(event.headers, VIEWER_ADDRESS_HEADER);
  return told !== undefined && ADDRESS.test(told) ? told : sourceIp;
}
