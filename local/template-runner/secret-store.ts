import type { IncomingMessage, ServerResponse } from 'node:http';
import { makeUpText } from '#core/adapters/system/made-up-text.ts';
import type { Emulator } from '../emulators/dynamo.ts';
import { startOnLoopback } from '../emulators/loopback.ts';
import type { Resolver } from './resolver.ts';
import { fail, type Resource, type Template } from './template.ts';

export const SECRET_TYPE = 'Custom::Secret';

/** Values of the template's secrets: generated once, kept in `values`, which the caller stores. */
export function createSecrets(
  template: Template,
  resolver: Resolver,
  values: Record<string, string>,
): ReadonlyMap<string, string> {
  const byArn = new Map<string, string>();
  for (const secret of template.ofType(SECRET_TYPE)) {
    const name = secretName(secret);
    const value = values[name] ?? makeUpText(Number(secret.properties.Length));
    values[name] = value;
    const arn = resolver.text(secret.properties.ParameterArn, secret.id);
    resolver.define(secret.id, { ref: arn, attributes: { Arn: arn } });
    byArn.set(arn, value);
  }
  return byArn;
}

/** The last part of the name of its parameter. */
export function secretName(secret: Resource): string {
  const arn = JSON.stringify(secret.properties.ParameterArn);
  return /\/([a-z-]+)"/.exec(arn)?.[1] ?? fail(secret.id, 'a secret without a name');
}

/** `GetParameter` on loopback: all that functions may do with secrets. */
export async function startSecretStore(secrets: ReadonlyMap<string, string>): Promise<Emulator> {
  return startOnLoopback((request, response) => answer(secrets, request, response));
}

async function answer(
  secrets: ReadonlyMap<string, string>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const send = (status: number, body: unknown): void => {
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' });
    response.end(JSON.stringify(body));
  };
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const input: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    const id = typeof input === 'object' && input !== null && 'Name' in input ? String(input.Name) : '';
    const value = secrets.get(id);
    if (request.headers['x-amz-target'] !== 'AmazonSSM.GetParameter') {
      send(400, { __type: 'ValidationException' });
    } else if (value === undefined) send(400, { __type: 'ParameterNotFound' });
    else send(200, { Parameter: { ARN: id, Name: id, Type: 'SecureString', Value: value, Version: 1 } });
  } catch {
    send(400, { __type: 'InvalidRequestException' });
  }
}
