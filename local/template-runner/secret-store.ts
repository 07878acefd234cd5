import { randomInt } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Emulator } from '../emulators/dynamo.ts';
import { startOnLoopback } from '../emulators/loopback.ts';
import { LOCAL_ACCOUNT, LOCAL_REGION, type Resolver } from './resolver.ts';
import { isObject, type Resource, type Template } from './template.ts';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const DEFAULT_LENGTH = 32;

/** Values of the template's secrets: generated once, kept in `values`, which the caller stores. */
export function createSecrets(
  template: Template,
  resolver: Resolver,
  values: Record<string, string>,
): ReadonlyMap<string, string> {
  const byArn = new Map<string, string>();
  for (const secret of template.ofType('AWS::SecretsManager::Secret')) {
    const value = values[secret.id] ?? generate(secret);
    values[secret.id] = value;
    const arn = `arn:aws:secretsmanager:${LOCAL_REGION}:${LOCAL_ACCOUNT}:secret:${secret.id}`;
    resolver.define(secret.id, { ref: arn, attributes: { Id: arn } });
    byArn.set(arn, value);
  }
  return byArn;
}

function generate(secret: Resource): string {
  const rule = secret.properties.GenerateSecretString;
  const length = isObject(rule) ? Number(rule.PasswordLength ?? DEFAULT_LENGTH) : DEFAULT_LENGTH;
  return Array.from({ length }, () => LETTERS[randomInt(LETTERS.length)] ?? '').join('');
}

/** `GetSecretValue` on loopback: all that functions may do with secrets. */
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
    const id =
      typeof input === 'object' && input !== null && 'SecretId' in input ? String(input.SecretId) : '';
    const value = secrets.get(id);
    if (request.headers['x-amz-target'] !== 'secretsmanager.GetSecretValue') {
      send(400, { __type: 'InvalidRequestException' });
    } else if (value === undefined) send(400, { __type: 'ResourceNotFoundException' });
    else send(200, { ARN: id, Name: id, SecretString: value, VersionStages: ['AWSCURRENT'] });
  } catch {
    send(400, { __type: 'InvalidRequestException' });
  }
}
