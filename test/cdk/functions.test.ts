import type { ZodObject } from 'zod';
import { IdleLookEnv, SurfaceEnv } from '../../core/contracts/internal/env.ts';
import { EngineEnv } from '../../engine-container/src/env.ts';
import { AdminEnv } from '../../lambdas/admin/env.ts';
import { ApiEnv } from '../../lambdas/api/env.ts';
import { BillingEnv } from '../../lambdas/billing/env.ts';
import { ConnectionsEnv } from '../../lambdas/connections/env.ts';
import { ContainerHealthEnv } from '../../lambdas/container-health/env.ts';
import { EvidenceEnv } from '../../lambdas/evidence/env.ts';
import { ForgeOpsEnv } from '../../lambdas/forge-ops/env.ts';
import { NotifyEnv } from '../../lambdas/notify/env.ts';
import { PublicEnv } from '../../lambdas/public/env.ts';
import {
  SocketConnectEnv,
  SocketDefaultEnv,
  SocketDisconnectEnv,
  SocketPushEnv,
} from '../../lambdas/realtime/env.ts';
import { SecretsEnv } from '../../lambdas/secrets/env.ts';
import { SiteEnv } from '../../lambdas/site/env.ts';
import { TickEnv } from '../../lambdas/tick/env.ts';
import { WakeForwardEnv } from '../../lambdas/wake/env.ts';
import { ForgeWebhookEnv, PaymentsWebhookEnv } from '../../lambdas/webhooks/env.ts';
import { WorkerEnv } from '../../lambdas/worker/env.ts';
import { DEPLOYED_NODE } from '../../lib/node-versions.ts';
import { synthesize } from '../support/synthesize.ts';
import { BORROWED, FULL, readTemplate } from '../support/template.ts';

const ENVIRONMENTS: Readonly<Record<string, ZodObject>> = {
  Admin: AdminEnv,
  Advice: SurfaceEnv,
  Api: ApiEnv,
  Billing: BillingEnv,
  Connections: ConnectionsEnv,
  ContainerHealth: ContainerHealthEnv,
  DashboardSite: SiteEnv,
  Evidence: EvidenceEnv,
  ForgeOps: ForgeOpsEnv,
  IdleLook: IdleLookEnv,
  NotificationsNotify: NotifyEnv,
  Public: PublicEnv,
  // An id of `Default` leaves no trace in a logical id.
  Realtime: SocketDefaultEnv,
  RealtimeConnect: SocketConnectEnv,
  RealtimeDisconnect: SocketDisconnectEnv,
  RealtimePush: SocketPushEnv,
  SecretsMaker: SecretsEnv,
  Tick: TickEnv,
  WakeForward: WakeForwardEnv,
  WebhooksForge: ForgeWebhookEnv,
  WebhooksPayments: PaymentsWebhookEnv,
  Worker: WorkerEnv,
};

/** Read by node or by the SDK, not by an `env.ts`. */
const isOurs = (key: string): boolean => key !== 'NODE_OPTIONS' && !key.startsWith('AWS_');

const template = readTemplate();
const full = readTemplate(FULL);

test('every key that an env.ts asks for is in the template, and the other way round', () => {
  const given = Object.fromEntries(
    [...template.functionNames()].map(([id, name]) => [
      name,
      Object.keys(template.get(id).Properties.Environment.Variables).filter(isOurs).sort(),
    ]),
  );
  const [container] = template.only('AWS::ECS::TaskDefinition').Properties.ContainerDefinitions;
  given.engine = [...container.Environment, ...container.Secrets]
    .map(({ Name }: { Name: string }) => Name)
    .filter(isOurs)
    .sort();
  const asked = Object.entries({ ...ENVIRONMENTS, engine: EngineEnv }).map(([name, schema]) => [
    name,
    Object.keys(schema.shape).sort(),
  ]);
  expect(given).toEqual(Object.fromEntries(asked));
});

test('a key that no function asks for, or that is not given, stops the synthesis', () => {
  const { stack } = synthesize();
  const worker = stack.node.findChild('Worker');
  Reflect.apply(Reflect.get(worker, 'setEnv'), worker, ['SURPRISE', 'x']);
  expect(worker.node.validate()).toEqual([expect.stringContaining('SURPRISE')]);
});

test('all are ARM64 on the newest runtime, with JSON logs and a log group that ends', () => {
  for (const [id, fn] of template.ofType('AWS::Lambda::Function')) {
    expect([id, fn.Properties.Architectures]).toEqual([id, ['arm64']]);
    expect([id, fn.Properties.Runtime]).toEqual([id, `nodejs${DEPLOYED_NODE}.x`]);
    expect(fn.Properties.LoggingConfig).toMatchObject({ LogFormat: 'JSON', LogGroup: expect.anything() });
  }
  for (const [, group] of template.ofType('AWS::Logs::LogGroup')) {
    expect(group.Properties.RetentionInDays).toBe(14);
  }
  for (const [, group] of full.ofType('AWS::Logs::LogGroup')) {
    expect(group.Properties.RetentionInDays).toBe(90);
  }
});

test('no environment value and no output holds a secret', () => {
  for (const each of [template, full]) {
    const shown = JSON.stringify([
      each.ofType('AWS::Lambda::Function').map(([, fn]) => fn.Properties.Environment),
      each
        .only('AWS::ECS::TaskDefinition')
        .Properties.ContainerDefinitions.map((part: { Environment: unknown }) => part.Environment),
      each.outputs,
    ]);
    expect(shown).not.toMatch(/resolve:secretsmanager|resolve:ssm|SecretString/);
  }
});

test('only what must reach the engine is inside the network', () => {
  const inside = [...template.functionNames()]
    .filter(([id]) => template.get(id).Properties.VpcConfig !== undefined)
    .map(([, name]) => name);
  expect(inside.sort()).toEqual(['ContainerHealth', 'Worker']);
});

/** Without NAT the world is reached over IPv6, under names that have such an address; the table over its endpoint. */
test('inside the network, services are called by names that answer over IPv6, and the table is not', () => {
  const names = (fn: string): unknown[] =>
    Object.entries(template.functionNamed(fn).Properties.Environment.Variables)
      .filter(([key]) => key.startsWith('AWS_ENDPOINT_URL'))
      .sort();
  const dualStack = (service: string): unknown => [
    `AWS_ENDPOINT_URL_${service.toUpperCase()}`,
    { 'Fn::Join': ['', [`https://${service}.`, { Ref: 'AWS::Region' }, '.api.aws']] },
  ];
  expect(names('Worker')).toEqual(['ecs', 'kms', 'lambda', 'sqs', 'ssm'].map(dualStack));
  expect(names('ContainerHealth')).toEqual([dualStack('ecs')]);
  for (const fn of ['Worker', 'ContainerHealth']) {
    const { Properties } = template.functionNamed(fn);
    expect(Properties.VpcConfig.Ipv6AllowedForDualStack).toBe(true);
    expect(Properties.Environment.Variables.NODE_OPTIONS).toContain('--dns-result-order=ipv6first');
    expect(Properties.Environment.Variables.AWS_USE_DUALSTACK_ENDPOINT).toBeUndefined();
  }
});

/** A forge or a chat under our own name would have the service call itself with a tenant's words. */
test.each([
  ['of its own domain', FULL, 'queue.example.org'],
  ['of what stands in front of it', BORROWED, 'own.example.org'],
])('whatever calls a forge is told the name %s, which no tenant may have it call', (_name, context, host) => {
  const given = readTemplate(context);
  const environments = [
    ...given.ofType('AWS::Lambda::Function').map(([, fn]) => fn.Properties.Environment?.Variables ?? {}),
    ...given
      .ofType('AWS::ECS::TaskDefinition')
      .map(([, task]) =>
        Object.fromEntries(
          task.Properties.ContainerDefinitions[0].Environment.map(
            (entry: { Name: string; Value: unknown }) => [entry.Name, entry.Value],
          ),
        ),
      ),
  ].filter((variables) => 'FORGE_ALLOW_HOSTS' in variables);
  expect(environments.map((variables) => variables.FORGE_DENY_HOSTS)).toEqual([host, host, host, host]);
});
