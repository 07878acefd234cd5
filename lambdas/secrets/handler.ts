import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import {
  DeleteParameterCommand,
  ParameterAlreadyExists,
  ParameterNotFound,
  PutParameterCommand,
  SSMClient,
} from '@aws-sdk/client-ssm';
import { createSystemClock } from '#core/adapters/system/clock.ts';
import { Secret } from '#core/secret.ts';
import { createLog } from '#core/telemetry.ts';
import { SecretsEnv } from './env.ts';
import { createSecretMaker } from './make-secret.ts';

SecretsEnv.parse(process.env);
const clock = createSystemClock();
const parameters = new SSMClient({});
const ANSWER_TIMEOUT_MS = 10_000;

export const handler = createSecretMaker({
  log: createLog({ service: 'secrets' }),
  pause: (ms) => clock.sleep(ms),
  store: async ({ name, description, value }) => {
    try {
      await parameters.send(
        new PutParameterCommand({
          Name: name,
          Description: description,
          Value: value.reveal(),
          Type: 'SecureString',
          Tier: 'Standard',
          Overwrite: false,
        }),
      );
      return true;
    } catch (error) {
      if (error instanceof ParameterAlreadyExists) return false;
      throw error;
    }
  },
  remove: async (name) => {
    try {
      await parameters.send(new DeleteParameterCommand({ Name: name }));
    } catch (error) {
      if (!(error instanceof ParameterNotFound)) throw error;
    }
  },
  readOld: async (secretArn) => {
    const old = await new SecretsManagerClient({}).send(new GetSecretValueCommand({ SecretId: secretArn }));
    if (old.SecretString === undefined || old.SecretString === '') throw new Error('the secret is empty');
    return new Secret(old.SecretString);
  },
  answer: async (url, body) => {
    // As bytes: the address was signed for a request without a content type.
    const bytes = new TextEncoder().encode(body);
    const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
    const { ok, status } = await fetch(url, { method: 'PUT', body: bytes, signal });
    if (!ok) throw new Error(`CloudFormation took no answer: ${status}`);
  },
});
