import { createHash, createHmac } from 'node:crypto';

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

export interface AwsRequest {
  readonly host: string;
  readonly region: string;
  readonly service: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Epoch ms. */
  readonly now: number;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/**
 * Headers of a signed `POST /` (Signature Version 4), for the one service that the project calls without its SDK: two calls
 * of an operator's command are no reason for a client of 120 operations.
 */
export function signAwsPost(request: AwsRequest, credentials: AwsCredentials): Record<string, string> {
  const at = new Date(request.now).toISOString().replace(/[-:]|\.\d{3}/g, '');
  const day = at.slice(0, 8);
  const headers: Record<string, string> = {
    ...request.headers,
    host: request.host,
    'x-amz-date': at,
    ...(credentials.sessionToken === undefined ? {} : { 'x-amz-security-token': credentials.sessionToken }),
  };
  const names = Object.keys(headers).sort();
  const signed = names.join(';');
  const canonical = [
    'POST',
    '/',
    '',
    ...names.map((name) => `${name}:${headers[name]?.trim()}`),
    '',
    signed,
    sha256(request.body),
  ].join('\n');
  const scope = [day, request.region, request.service, 'aws4_request'].join('/');
  const key = [day, request.region, request.service, 'aws4_request'].reduce<string | Buffer>(
    hmac,
    `AWS4${credentials.secretAccessKey}`,
  );
  const signature = createHmac('sha256', key)
    .update([ALGORITHM, at, scope, sha256(canonical)].join('\n'))
    .digest('hex');
  const { host: _host, ...sent } = headers;
  return {
    ...sent,
    authorization: `${ALGORITHM} Credential=${credentials.accessKeyId}/${scope}, SignedHeaders=${signed}, Signature=${signature}`,
  };
}
