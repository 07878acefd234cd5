import { Secret } from '#core/secret.ts';
import { createSecretMaker, type SecretMakerDeps } from '../../../lambdas/secrets/make-secret.ts';

const NAME = '/Mergeyard-prod/admin-key';
const ARN = `arn:aws:ssm:us-east-1:123456789012:parameter${NAME}`;
const OLD = 'arn:aws:secretsmanager:us-east-1:123456789012:secret:old';

const refused = () => Object.assign(new Error('no access'), { name: 'AccessDeniedException' });

function world(
  stored: Record<string, string> = {},
  old: () => Promise<Secret<string>> = async () => new Secret('of-before'),
  store: (tries: number) => void = () => {},
) {
  const answers: Record<string, unknown>[] = [];
  const logged: unknown[] = [];
  const waited: number[] = [];
  const log = (...line: unknown[]) => {
    logged.push(line);
  };
  const deps: SecretMakerDeps = {
    store: async ({ name, value }) => {
      store(waited.length);
      if (stored[name] !== undefined) return false;
      stored[name] = value.reveal();
      return true;
    },
    remove: async (name) => {
      delete stored[name];
    },
    readOld: old,
    answer: async (_url, body) => {
      answers.push(JSON.parse(body));
    },
    log: { info: log, warn: log, error: log },
    pause: async (ms) => {
      waited.push(ms);
    },
  };
  const maker = createSecretMaker(deps);
  const send = async (RequestType: string, more: object = {}, CopyFrom = '') => {
    await maker({
      RequestType,
      ResponseURL: 'https://s3.example/answer',
      StackId: 's',
      RequestId: 'r',
      LogicalResourceId: 'l',
      ResourceType: 'Custom::Secret',
      ...more,
      ResourceProperties: {
        ServiceToken: 't',
        Parameter: NAME,
        ParameterArn: ARN,
        Description: 'd',
        Length: '64',
        CopyFrom,
      },
    });
    return answers.at(-1) ?? {};
  };
  return { stored, logged, waited, send };
}

describe('a secret of the stack', () => {
  test('is made up once, and neither another deployment nor another stack writes over it', async () => {
    const { stored, send } = world();
    const made = await send('Create');
    expect(made).toMatchObject({ Status: 'SUCCESS', Data: { Arn: ARN }, StackId: 's', RequestId: 'r' });
    const first = stored[NAME];
    expect(first).toMatch(/^[A-Za-z0-9]{64}$/);
    const id = { PhysicalResourceId: made.PhysicalResourceId };
    expect(await send('Update', id)).toMatchObject({ Status: 'SUCCESS', ...id });
    expect(await send('Create')).toMatchObject({ Status: 'SUCCESS' });
    expect(stored[NAME]).toBe(first);
  });

  /**
   * AWS, "Custom resource response objects": with `NoEcho`, "all returned values are masked with asterisks (*****)"
   * (https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/crpg-ref-responses.html). Operators read the ARN in the outputs.
   */
  test('is told by its name alone, which nothing masks', async () => {
    const { stored, send } = world();
    const made = await send('Create');
    expect(made).not.toHaveProperty('NoEcho');
    expect(made.Data).toEqual({ Arn: ARN });
    expect(JSON.stringify(made)).not.toContain(stored[NAME]);
  });

  /**
   * "Changes that I make are not always immediately visible"
   * (https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot.html#troubleshoot_general_eventual-consistency).
   */
  test('is made once a right that was just given holds, for which it waits a minute', async () => {
    const { stored, waited, send } = world({}, undefined, (tries) => {
      if (tries < 3) throw refused();
    });
    expect(await send('Create')).toMatchObject({ Status: 'SUCCESS' });
    expect(stored[NAME]).toMatch(/^[A-Za-z0-9]{64}$/);
    expect(waited).toEqual([5_000, 5_000, 5_000]);
  });

  test('is not made where the right is missing after a minute, nor tried again after another fault', async () => {
    const without = world({}, undefined, () => {
      throw refused();
    });
    expect(await without.send('Create')).toMatchObject({ Status: 'FAILED' });
    expect(without.waited.reduce((sum, ms) => sum + ms, 0)).toBe(60_000);
    const throttled = world({}, undefined, () => {
      throw Object.assign(new Error('slow down'), { name: 'ThrottlingException' });
    });
    expect(await throttled.send('Create')).toMatchObject({ Status: 'FAILED' });
    expect(throttled.waited).toEqual([]);
  });

  test('has the value that an earlier release kept elsewhere', async () => {
    const { stored, send } = world();
    await send('Create', {}, OLD);
    expect(stored[NAME]).toBe('of-before');
  });

  test('is not made up where the value of before cannot be read: the deployment fails, and says which', async () => {
    const { stored, send, logged } = world({}, async () => {
      throw Object.assign(new Error(`no access to ${OLD}`), { name: 'AccessDeniedException' });
    });
    const answer = await send('Create', {}, OLD);
    expect(answer).toMatchObject({ Status: 'FAILED', Reason: `${NAME}: AccessDeniedException` });
    expect(stored).toEqual({});
    expect(JSON.stringify(logged)).not.toContain(OLD);
  });

  test('goes with what made it, and stays where it was there before', async () => {
    const own = world();
    const { PhysicalResourceId } = await own.send('Create');
    expect(await own.send('Delete', { PhysicalResourceId })).toMatchObject({ Status: 'SUCCESS' });
    expect(own.stored).toEqual({});
    const found = world({ [NAME]: 'stored by an operator' });
    const created = await found.send('Create');
    await found.send('Delete', { PhysicalResourceId: created.PhysicalResourceId });
    expect(found.stored).toEqual({ [NAME]: 'stored by an operator' });
  });

  test('is in no answer and no log', async () => {
    const { stored, send, logged } = world();
    const answer = await send('Create');
    expect(JSON.stringify([answer, logged])).not.toContain(stored[NAME]);
  });
});
