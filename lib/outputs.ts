import { Aws, CfnOutput } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { AdminKey } from './constructs/admin-key.ts';
import type { ApiSurface } from './constructs/api-surface.ts';
import type { CredentialKey } from './constructs/credential-key.ts';
import type { DataTable } from './constructs/data-table.ts';
import type { EngineService } from './constructs/engine-service.ts';
import type { IdentityProvider } from './constructs/identity-provider.ts';
import type { Monitoring } from './constructs/monitoring.ts';
import type { PublicEdge } from './constructs/public-edge.ts';
import type { RealtimeSurface } from './constructs/realtime-surface.ts';
import type { WakeQueue } from './constructs/wake-queue.ts';

/**
 * Adds the outputs of the stack. Their names are stable, because scripts and people rely on them. No output is secret:
 * they say where secrets are, never what these hold.
 */
export function addOutputs(
  stack: Construct,
  parts: {
    publicUrl: string;
    api: ApiSurface;
    edge: PublicEdge;
    realtime: RealtimeSurface;
    identity: IdentityProvider;
    table: DataTable;
    credentialKey: CredentialKey;
    adminKey: AdminKey;
    queue: WakeQueue;
    engine: EngineService;
    monitoring: Monitoring;
  },
): void {
  const { publicUrl, edge, engine, identity, monitoring } = parts;
  const output = (name: string, value: string, description: string): void => {
    new CfnOutput(stack, name, { value, description });
  };
  output('BaseUrl', publicUrl, 'Base address of the whole contract');
  output('DashboardUrl', `${publicUrl}/`, 'The page');
  output('ApiUrl', `https://${parts.api.host}`, 'The API without the distribution');
  output('SocketUrl', parts.realtime.url, 'Realtime socket without the distribution');
  output('ForgeWebhookUrl', `${publicUrl}/api/v1/webhooks/forge`, 'Where forges send their events');
  output('DistributionDomainName', edge.distribution.distributionDomainName, 'Point a name of your own here');
  output('TableName', parts.table.table.tableName, 'The single table');
  output('CredentialKeyArn', parts.credentialKey.key.keyArn, 'Wraps the data keys of forge tokens');
  output('AdminKeySecretArn', parts.adminKey.secret.arn, 'Holds the X-Admin-Key');
  output('WakeQueueUrl', parts.queue.wakes.queueUrl, 'FIFO queue of wakes');
  output('EngineClusterName', engine.service.cluster.clusterName, 'Cluster of the engine');
  output('EngineServiceName', engine.service.serviceName, 'Fargate service of the engine');
  output('PageTopicArn', monitoring.topics.page.topicArn, 'Alarms that should wake an operator');
  output('TicketTopicArn', monitoring.topics.ticket.topicArn, 'Alarms that can wait for the morning');
  output(
    'MonitoringDashboardUrl',
    `https://${Aws.REGION}.console.aws.amazon.com/cloudwatch/home?region=${Aws.REGION}#dashboards/dashboard/${monitoring.dashboard.dashboardName}`,
    'Health of the queue at a glance',
  );
  if (identity.userPool !== undefined) {
    output('UserPoolId', identity.userPool.userPoolId, 'People who sign in');
  }
}
