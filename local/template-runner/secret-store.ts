import { makeUpText } from '#core/adapters/system/made-up-text.ts';
import type { Emulator } from '../emulators/dynamo.ts';
import { type JsonAnswer, startJsonService } from '../emulators/loopback.ts';
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
  // The certificates of private forges, which are no secret.
  for (const parameter of template.ofType('AWS::SSM::Parameter')) {
    const name = resolver.text(parameter.properties.Name, parameter.id);
    const value = resolver.text(parameter.properties.Value, parameter.id);
    resolver.define(parameter.id, { ref: name, attributes: {} });
    const parts = [
      'arn:',
      { Ref: 'AWS::Partition' },
      ':ssm:',
      { Ref: 'AWS::Region' },
      ':',
      { Ref: 'AWS::AccountId' },
    ];
    const arn = resolver.text({ 'Fn::Join': ['', [...parts, `:parameter${name}`]] }, parameter.id);
    byArn.set(name, value);
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
  return startJsonService((operation, input) => answer(secrets, operation, input), 'InvalidRequestException');
}

async function answer(
  secrets: ReadonlyMap<string, string>,
  operation: string,
  input: unknown,
): Promise<JsonAnswer> {
  const send = (status: number, body: unknown): JsonAnswer => ({ status, body });
  const id = typeof input === 'object' && input !== null && 'Name' in input ? String(input.Name) : '';
  const value = secrets.get(id);
  if (operation !== 'AmazonSSM.GetParameter') return send(400, { __type: 'ValidationException' });
  if (value === undefined) return send(400, { __type: 'ParameterNotFound' });
  return send(200, { Parameter: { ARN: id, Name: id, Type: 'SecureString', Value: value, Version: 1 } });
}
