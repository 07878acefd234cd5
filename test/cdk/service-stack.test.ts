import { readFileSync } from 'node:fs';
import { Match, type Template } from 'aws-cdk-lib/assertions';
import type { ZodObject } from 'zod';
import { CATCH_ALL_SURFACE, ROUTES } from '#core/contracts/routes.ts';
import { EngineEnv } from '../../engine-container/src/env.ts';
import { AdminEnv } from '../../lambdas/admin/env.ts';
import { ApiEnv } from '../../lambdas/api/env.ts';
import { ConnectionsEnv } from '../../lambdas/connections/env.ts';
import { ContainerHealthEnv } from '../../lambdas/container-health/env.ts';
import { ForgeOpsEnv } from '../../lambdas/forge-ops/env.ts';
import { PublicEnv } from '../../lambdas/public/env.ts';
import { TickEnv } from '../../lambdas/tick/env.ts';
import { WakeForwardEnv } from '../../lambdas/wake/env.ts';
import { ForgeWebhookEnv } from '../../lambdas/webhooks/env.ts';
import { WorkerDlqEnv, WorkerEnv } from '../../lambdas/worker/env.ts';
import { synthesize } from '../support/synthesize.ts';

interface Resource {
  readonly Type: string;
  // biome-ignore lint/suspicious/noExplicitAny: a template is free-form JSON, and the assertions are its schema
  readonly Properties: any;
  readonly DeletionPolicy?: string;
}
interface Statement {
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
}

let template: Template;
let resources: Readonly<Record<string, Resource>>;

beforeAll(() => {
  ({ template } = synthesize());
  resources = template.toJSON().Resources;
});

function ofType(type: string): [string, Resource][] {
  return Object.entries(resources).filter(([, resource]) => resource.Type === type);
}

function listOf(value: string | readonly string[]): readonly string[] {
  return typeof value === 'string' ? [value] : value;
}

/** Statements of all policies whose logical id starts with one of the prefixes. */
function statements(prefix: string): Statement[] {
  return ofType('AWS::IAM::Policy')
    .filter(([id]) => id.startsWith(prefix))
    .flatMap(([, policy]) => policy.Properties.PolicyDocument.Statement);
}

function allowedActions(prefix: string): string[] {
  return statements(prefix)
    .filter((statement) => statement.Effect === 'Allow')
    .flatMap((statement) => listOf(statement.Action))
    .sort();
}

const FUNCTIONS: Readonly<Record<string, ZodObject>> = {
  Worker: WorkerEnv,
  WorkerDlq: WorkerDlqEnv,
  WakeForward: WakeForwardEnv,
  Tick: TickEnv,
  WebhooksForge: ForgeWebhookEnv,
  Public: PublicEnv,
  Api: ApiEnv,
  Connections: ConnectionsEnv,
  ForgeOps: ForgeOpsEnv,
  Admin: AdminEnv,
  ContainerHealth: ContainerHealthEnv,
};

function functionNamed(name: string): Resource {
  const found = ofType('AWS::Lambda::Function').find(([id]) =>
    new RegExp(`^${name}Function[0-9A-F]{8}$`).test(id),
  );
  if (found === undefined) throw new Error(`no function ${name}`);
  return found[1];
}

describe('functions', () => {
  test('there are exactly the known ones', () => {
    expect(ofType('AWS::Lambda::Function')).toHaveLength(Object.keys(FUNCTIONS).length);
  });

  test.each(Object.entries(FUNCTIONS))('%s gets exactly the keys its env.ts asks for', (name, schema) => {
    const given = Object.keys(functionNamed(name).Properties.Environment.Variables);
    const ours = given.filter((key) => key !== 'NODE_OPTIONS' && !key.startsWith('AWS_'));
    expect(ours.sort()).toEqual(Object.keys(schema.shape).sort());
  });

  test('all are ARM64 with JSON logs and a log group that ends', () => {
    for (const [, fn] of ofType('AWS::Lambda::Function')) {
      expect(fn.Properties.Architectures).toEqual(['arm64']);
      expect(fn.Properties.LoggingConfig).toMatchObject({ LogFormat: 'JSON' });
    }
    for (const [, group] of ofType('AWS::Logs::LogGroup')) expect(group.Properties.RetentionInDays).toBe(14);
  });

  test('a key that nobody asks for, or that is not given, stops the synthesis', () => {
    const { stack } = synthesize();
    const worker = stack.node.findChild('Worker');
    Reflect.apply(Reflect.get(worker, 'setEnv'), worker, ['SURPRISE', 'x']);
    expect(worker.node.validate()).toEqual([expect.stringContaining('SURPRISE')]);
  });

  test('no environment value and no output holds a secret', () => {
    const shown = JSON.stringify([
      ofType('AWS::Lambda::Function').map(([, fn]) => fn.Properties.Environment),
      ofType('AWS::ECS::TaskDefinition').map(([, task]) =>
        task.Properties.ContainerDefinitions.map((part: { Environment: unknown }) => part.Environment),
      ),
      template.toJSON().Outputs,
    ]);
    expect(shown).not.toMatch(/resolve:secretsmanager|resolve:ssm|SecretString/);
  });
});

describe('queues (A119)', () => {
  const timeoutOf = (mapping: Resource): number => {
    const id: string = mapping.Properties.FunctionName.Ref;
    return resources[id]?.Properties.Timeout;
  };
  const queueOf = (mapping: Resource): [string, Resource] => {
    const id: string = mapping.Properties.EventSourceArn['Fn::GetAtt'][0];
    const queue = resources[id];
    if (queue === undefined) throw new Error(`no queue ${id}`);
    return [id, queue];
  };
  const deadLetterIds = (): string[] => [
    ...ofType('AWS::SQS::Queue').flatMap(([, queue]) =>
      queue.Properties.RedrivePolicy === undefined
        ? []
        : [queue.Properties.RedrivePolicy.deadLetterTargetArn['Fn::GetAtt'][0]],
    ),
    ...ofType('AWS::Events::Rule').flatMap(([, rule]) =>
      rule.Properties.Targets.map(
        (target: { DeadLetterConfig: { Arn: { 'Fn::GetAtt': string[] } } }) =>
          target.DeadLetterConfig.Arn['Fn::GetAtt'][0],
      ),
    ),
  ];

  test('visibility is at least six times the time-out of the consumer', () => {
    const mappings = ofType('AWS::Lambda::EventSourceMapping');
    expect(mappings).toHaveLength(3);
    for (const [, mapping] of mappings) {
      const [, queue] = queueOf(mapping);
      expect(queue.Properties.VisibilityTimeout).toBeGreaterThanOrEqual(6 * timeoutOf(mapping));
      expect(mapping.Properties).toMatchObject({
        BatchSize: 1,
        FunctionResponseTypes: ['ReportBatchItemFailures'],
      });
    }
  });

  test('the wake queue is FIFO per repo, and so are its dead letters', () => {
    template.hasResourceProperties('AWS::SQS::Queue', {
      FifoQueue: true,
      ContentBasedDeduplication: false,
      DeduplicationScope: 'messageGroup',
      FifoThroughputLimit: 'perMessageGroupId',
      RedrivePolicy: Match.objectLike({ maxReceiveCount: 5 }),
    });
    for (const [, queue] of ofType('AWS::SQS::Queue')) {
      const target = queue.Properties.RedrivePolicy?.deadLetterTargetArn['Fn::GetAtt'][0];
      if (target !== undefined) {
        expect(resources[target]?.Properties.FifoQueue).toBe(queue.Properties.FifoQueue);
      }
    }
  });

  test('every queue has dead letters or is dead letters, and an alarm', () => {
    const dead = deadLetterIds();
    const alarms = JSON.stringify(
      ofType('AWS::CloudWatch::Alarm').map(([, alarm]) => alarm.Properties.Dimensions),
    );
    for (const [id, queue] of ofType('AWS::SQS::Queue')) {
      expect([id, queue.Properties.RedrivePolicy !== undefined || dead.includes(id)]).toEqual([id, true]);
      expect([id, alarms.includes(`"${id}"`)]).toEqual([id, true]);
      expect(queue.Properties.SqsManagedSseEnabled).toBe(true);
    }
  });

  test('every queue refuses plain HTTP', () => {
    const policies = JSON.stringify(ofType('AWS::SQS::QueuePolicy').map(([, policy]) => policy.Properties));
    for (const [id] of ofType('AWS::SQS::Queue')) expect(policies).toContain(`"Ref":"${id}"`);
    expect(policies.match(/aws:SecureTransport/g)).toHaveLength(ofType('AWS::SQS::Queue').length);
  });

  test('every alarm has its section in the runbook', () => {
    const runbook = readFileSync('lib/README.md', 'utf8');
    const headings = [...runbook.matchAll(/^### (\w+)$/gm)].map(([, name]) => name?.toLowerCase()).sort();
    const anchors = ofType('AWS::CloudWatch::Alarm').map(
      ([, alarm]) => /#(\w+)$/.exec(alarm.Properties.AlarmDescription)?.[1],
    );
    expect(anchors.sort()).toEqual(headings);
  });

  test('every alarm tells somebody', () => {
    for (const [, alarm] of ofType('AWS::CloudWatch::Alarm')) {
      expect(alarm.Properties.AlarmActions).toHaveLength(1);
      expect(alarm.Properties.AlarmDescription).toMatch(
        /^\[(page|ticket)\] .+ Runbook: lib\/README\.md#\w+$/,
      );
    }
  });
});

describe('schedule (A60)', () => {
  test('is every five minutes, enabled, with retries and dead letters', () => {
    template.hasResourceProperties('AWS::Events::Rule', {
      ScheduleExpression: 'cron(*/5 * * * ? *)',
      State: 'ENABLED',
      Targets: [Match.objectLike({ RetryPolicy: Match.anyValue(), DeadLetterConfig: Match.anyValue() })],
    });
  });
});

describe('data and key', () => {
  test('the table has point-in-time recovery, a stream and a TTL', () => {
    template.hasResourceProperties('AWS::DynamoDB::GlobalTable', {
      BillingMode: 'PAY_PER_REQUEST',
      StreamSpecification: { StreamViewType: 'KEYS_ONLY' },
      TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
      Replicas: [
        Match.objectLike({ PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } }),
      ],
    });
  });

  test('the key rotates', () => {
    template.hasResourceProperties('AWS::KMS::Key', { EnableKeyRotation: true });
  });

  test('in prod the table and the key survive, and the stack refuses deletion', () => {
    const prod = synthesize({ stage: 'prod' });
    expect(prod.stack.terminationProtection).toBe(true);
    for (const type of ['AWS::DynamoDB::GlobalTable', 'AWS::KMS::Key']) {
      for (const found of Object.values(prod.template.findResources(type))) {
        expect(found.DeletionPolicy).toBe('Retain');
      }
    }
    prod.template.hasResourceProperties('AWS::DynamoDB::GlobalTable', {
      Replicas: [Match.objectLike({ DeletionProtectionEnabled: true })],
    });
  });

  test('logical ids of what holds data stand still', () => {
    const stateful = ['AWS::DynamoDB::GlobalTable', 'AWS::KMS::Key', 'AWS::SecretsManager::Secret'];
    expect(stateful.flatMap((type) => ofType(type).map(([id]) => id))).toEqual([
      'DataTableFDBAD0F2',
      'CredentialsKey849F44B7',
      'EngineContainerSecret1A575FDC',
      expect.stringMatching(/^AdminKeySecret/),
    ]);
  });
});

describe('engine', () => {
  const task = (): Resource['Properties'] => ofType('AWS::ECS::TaskDefinition')[0]?.[1].Properties;

  test('is ARM64, not root, on a read-only file system, with a health check', () => {
    expect(task().RuntimePlatform.CpuArchitecture).toBe('ARM64');
    const container = task().ContainerDefinitions[0];
    expect(container).toMatchObject({ User: '1000:1000', ReadonlyRootFilesystem: true });
    expect(container.HealthCheck.Command.join(' ')).toContain('/healthz');
  });

  test('gets exactly the keys its env.ts asks for', () => {
    const container = task().ContainerDefinitions[0];
    const given = [...container.Environment, ...container.Secrets].map(
      (entry: { Name: string }) => entry.Name,
    );
    expect(given.filter((key) => !key.startsWith('AWS_')).sort()).toEqual(
      Object.keys(EngineEnv.shape).sort(),
    );
  });

  test('has one open door, for the worker', () => {
    const rules = ofType('AWS::EC2::SecurityGroupIngress');
    expect(rules).toHaveLength(1);
    const [, rule] = rules[0] ?? [];
    expect(rule?.Properties).toMatchObject({ IpProtocol: 'tcp', FromPort: 8080, ToPort: 8080 });
    expect(rule?.Properties.SourceSecurityGroupId['Fn::GetAtt'][0]).toMatch(/^NetworkWorkerGroup/);
    for (const [, group] of ofType('AWS::EC2::SecurityGroup')) {
      expect(group.Properties.SecurityGroupIngress).toBeUndefined();
    }
  });

  test('is deployed with a circuit breaker and no shell, in a network without NAT', () => {
    template.hasResourceProperties('AWS::ECS::Service', {
      EnableExecuteCommand: false,
      DeploymentConfiguration: Match.objectLike({
        DeploymentCircuitBreaker: { Enable: true, Rollback: true },
      }),
    });
    template.resourceCountIs('AWS::EC2::NatGateway', 0);
    template.resourceCountIs('AWS::ElasticLoadBalancingV2::LoadBalancer', 0);
    template.hasResourceProperties('AWS::EC2::VPCEndpoint', { VpcEndpointType: 'Gateway' });
  });

  test('a prebuilt image is taken as it is', () => {
    const prebuilt = synthesize({ engineImage: 'registry.example/engine@sha256:abc' });
    prebuilt.template.hasResourceProperties('AWS::ECS::TaskDefinition', {
      ContainerDefinitions: [Match.objectLike({ Image: 'registry.example/engine@sha256:abc' })],
    });
  });
});

describe('rights (A118)', () => {
  test('no action has a wildcard, and no statement allows everything', () => {
    for (const statement of statements('')) {
      for (const action of listOf(statement.Action)) expect(action).not.toContain('*');
    }
  });

  test('only these statements name no resource', () => {
    const wide = statements('')
      .filter((statement) => statement.Effect === 'Allow' && statement.Resource === '*')
      .map((statement) => listOf(statement.Action)[0]);
    expect(wide.sort()).toEqual([
      'ec2:CreateNetworkInterface',
      'ec2:CreateNetworkInterface',
      'ecr:GetAuthorizationToken',
    ]);
  });

  test('the key opens for the worker and the calls to forges, seals for connections, and is nothing to all others', () => {
    const rights = ofType('AWS::IAM::Policy').flatMap(([id, policy]) => {
      const actions: Statement[] = policy.Properties.PolicyDocument.Statement;
      const kms = actions
        .flatMap((each) => listOf(each.Action))
        .filter((action) => action.startsWith('kms:'));
      return kms.map((action) => `${id.replace(/RoleDefaultPolicy.*$/, '')} ${action}`);
    });
    expect(rights.sort()).toEqual([
      'Connections kms:GenerateDataKey',
      'ForgeOps kms:Decrypt',
      'Worker kms:Decrypt',
    ]);
  });

  test('only worker and engine may read the container secret', () => {
    const holders = ofType('AWS::IAM::Policy')
      .filter(([, policy]) =>
        JSON.stringify(policy.Properties.PolicyDocument).includes('EngineContainerSecret'),
      )
      .map(([id]) => id.replace(/DefaultPolicy.*$/, ''));
    expect(holders.sort()).toEqual(['EngineTaskExecutionRole', 'WorkerRole']);
  });

  test('indexes are named, never starred', () => {
    for (const statement of statements('')) {
      expect(JSON.stringify(statement.Resource)).not.toMatch(/index\/\*/);
    }
  });

  test('the engine has the table and nothing else (D-94)', () => {
    const services = new Set(allowedActions('EngineTaskTaskRole').map((action) => action.split(':')[0]));
    expect([...services]).toEqual(['dynamodb']);
  });

  test.each([
    ['PublicRole', []],
    ['ApiRole', ['sqs:SendMessage']],
    ['ConnectionsRole', ['kms:GenerateDataKey']],
    ['ForgeOpsRole', ['kms:Decrypt', 'sqs:SendMessage']],
    ['AdminRole', ['secretsmanager:GetSecretValue']],
    ['TickRole', ['sqs:SendMessage']],
    ['WebhooksForgeRole', ['sqs:SendMessage', 'sqs:SendMessage']],
  ])('%s can do little', (prefix, expected) => {
    const rights = allowedActions(prefix).filter(
      (action) => !action.startsWith('dynamodb:') && !action.startsWith('logs:'),
    );
    expect(rights).toEqual(expected);
  });
});

describe('identity (D-93)', () => {
  test('without a provider of the operator, a user pool is made, with the group of administrators', () => {
    template.resourceCountIs('AWS::Cognito::UserPool', 1);
    template.hasResourceProperties('AWS::Cognito::UserPoolGroup', { GroupName: 'admin' });
    expect(functionNamed('Api').Properties.Environment.Variables).toMatchObject({ IDENTITY_KIND: 'cognito' });
  });

  test('a provider that the operator names is asked, and no pool is made', () => {
    const named = synthesize({ identityUrl: 'https://id.example.org', identityApiKey: 'anon' });
    named.template.resourceCountIs('AWS::Cognito::UserPool', 0);
    named.template.hasResourceProperties('AWS::Lambda::Function', {
      Environment: {
        Variables: Match.objectLike({
          IDENTITY_KIND: 'gotrue',
          IDENTITY_URL: 'https://id.example.org',
          IDENTITY_API_KEY: 'anon',
        }),
      },
    });
  });

  test('the listing without authentication is off in production', () => {
    const prod = synthesize({ stage: 'prod' });
    prod.template.hasResourceProperties('AWS::Lambda::Function', {
      Environment: { Variables: Match.objectLike({ LEGACY_FORGE_REPOS: 'false' }) },
    });
  });
});

describe('routes', () => {
  test('are the route table and the catch-all', () => {
    const integrations = new Map(
      ofType('AWS::ApiGatewayV2::Integration').map(([id, found]) => [
        id,
        found.Properties.IntegrationUri['Fn::GetAtt'][0] as string,
      ]),
    );
    const routes = ofType('AWS::ApiGatewayV2::Route').map(([, route]) => {
      const integration: string = route.Properties.Target['Fn::Join'][1][1].Ref;
      return [route.Properties.RouteKey, integrations.get(integration)?.replace(/Function[0-9A-F]+$/, '')];
    });
    const construct = {
      'webhooks-forge': 'WebhooksForge',
      public: 'Public',
      api: 'Api',
      connections: 'Connections',
      'forge-ops': 'ForgeOps',
      admin: 'Admin',
      'container-health': 'ContainerHealth',
    } as const;
    expect(routes.sort()).toEqual(
      [
        ['$default', construct[CATCH_ALL_SURFACE]],
        ...ROUTES.map((route) => [`${route.method} ${route.path}`, construct[route.surface]]),
      ].sort(),
    );
  });

  test('nothing public leads to the engine (A99)', () => {
    template.resourceCountIs('AWS::ApiGatewayV2::VpcLink', 0);
    expect(ROUTES.map((route) => route.path).filter((path) => path.includes('internal'))).toEqual([]);
  });

  test('access logs hold no query string and no header', () => {
    const format: string = ofType('AWS::ApiGatewayV2::Stage')[0]?.[1].Properties.AccessLogSettings.Format;
    expect(format).not.toMatch(/query|header|authorizer/i);
  });
});

describe('context', () => {
  test.each([
    [{ stage: 'staging' }, 'must be one of: dev, prod'],
    [{ serviceName: 'MQ!' }, 'serviceName'],
    [{ alarmEmail: 'nobody' }, 'e-mail'],
    [{ forgeAllowHosts: 'https://x' }, 'forgeAllowHosts'],
  ])('%j is refused with the fix', (context, words) => {
    expect(() => synthesize(context)).toThrow(words);
  });

  test('the service name reaches the worker', () => {
    const named = synthesize({ serviceName: 'trains' });
    named.template.hasResourceProperties('AWS::Lambda::Function', {
      Environment: { Variables: Match.objectLike({ QUEUE_NAME: 'trains' }) },
    });
  });
});
