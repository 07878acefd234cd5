import { Aws, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { CfnAccount } from 'aws-cdk-lib/aws-apigateway';
import { CfnApi, CfnIntegration, CfnRoute, CfnRouteResponse, CfnStage } from 'aws-cdk-lib/aws-apigatewayv2';
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { CfnPermission } from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { SHOWN_PARTITIONS } from '../../core/contracts/internal/table.ts';
import {
  SocketConnectEnv,
  SocketDefaultEnv,
  SocketDisconnectEnv,
  SocketPushEnv,
} from '../../lambdas/realtime/env.ts';
import type { DataTable } from './data-table.ts';
import { type IdentityProvider, watchSignIn } from './identity-provider.ts';
import type { Monitoring } from './monitoring.ts';
import { type FunctionDefaults, ServiceFunction } from './service-function.ts';

export interface RealtimeSurfaceProps {
  readonly defaults: FunctionDefaults;
  readonly table: DataTable;
  readonly identity: IdentityProvider;
  readonly monitoring: Monitoring;
  /** Address of this service, whose pages may open a socket by cookie. */
  readonly publicUrl: string;
  /** Text that proves that a request came through the distribution; empty when something else stands in front. */
  readonly edgeStamp: string;
  /** Stamp that each `$connect` must carry; empty: sockets need not come through the distribution. */
  readonly requiredStamp: string;
  readonly rateFactor: string;
  readonly logRetentionDays: number;
}

export const SOCKET_STAGE = 'ws';
/** The gateway's limit for all sockets together; one socket sends a ping every five minutes. */
const BURST_MAX = 500;
const RATE_MAX_PER_SECOND = 200;
const QUICK = Duration.seconds(10);
/** Time-out of the push: a ping to a thousand sockets, 25 at a time, some of which answer slowly. */
const PUSH_TIMEOUT = Duration.seconds(30);
/** How long changes are gathered into one ping; dashboards show them within two seconds. */
const PING_WINDOW = Duration.seconds(1);
/** Age beyond which a change causes no ping, since dashboards read again anyway. It is the least that Lambda takes. */
const PING_AGE_MAX = Duration.seconds(60);

/**
 * Fields of the access log. The query string is left out because it carries the ticket, headers because they may carry
 * the session.
 */
const ACCESS_LOG_FIELDS = {
  request_id: '$context.requestId',
  at: '$context.requestTime',
  ip: '$context.identity.sourceIp',
  route: '$context.routeKey',
  event: '$context.eventType',
  status: '$context.status',
  socket: '$context.connectionId',
  integration_error: '$context.integrationErrorMessage',
};

/**
 * The realtime socket: a WebSocket API with its three functions, and the one that pings it when the table changes. The
 * distribution puts it under `SOCKET_PATH`: origin `domainName`, the whole path rewritten to `originPath`, the query kept.
 */
export class RealtimeSurface extends Construct {
  /** `<id>.execute-api.<region>.<suffix>`, without scheme and stage. */
  readonly domainName: string;
  /** Path of the origin, with a leading slash. */
  readonly originPath = `/${SOCKET_STAGE}`;
  /** Address of the socket without the distribution (`wss://…`). */
  readonly url: string;
  readonly #api: CfnApi;

  constructor(scope: Construct, id: string, props: RealtimeSurfaceProps) {
    super(scope, id);
    this.#api = new CfnApi(this, 'Api', {
      name: `${Stack.of(this).stackName}-socket`,
      protocolType: 'WEBSOCKET',
      // Every message goes to `$default`: clients have only one thing to say.
      routeSelectionExpression: '$request.body.type',
    });
    this.domainName = `${this.#api.ref}.execute-api.${Aws.REGION}.${Aws.URL_SUFFIX}`;
    this.url = `wss://${this.domainName}${this.originPath}`;
    this.#addConnect(props);
    this.#addDisconnect(props);
    this.#addDefault(props);
    this.#addStage(props);
    this.#addPush(props);
  }

  #addConnect(props: RealtimeSurfaceProps): void {
    const { defaults, table, identity, monitoring, publicUrl, rateFactor, edgeStamp } = props;
    const connect = new ServiceFunction(this, 'Connect', {
      defaults,
      bundle: 'socket-connect',
      env: SocketConnectEnv,
      memoryMb: 256,
      timeout: QUICK,
    });
    table.grant(connect, 'socket-connect');
    connect.setEnv('RATE_FACTOR', rateFactor);
    connect.setEnv('EDGE_STAMP', edgeStamp);
    connect.setEnv('REQUIRED_STAMP', props.requiredStamp);
    identity.grantVerify(connect);
    connect.setEnv('PUBLIC_URL', publicUrl);
    watchSignIn(monitoring, connect);
    this.#addRoute('$connect', connect);
    // The function answers its own failures, so its Errors metric stays at 0.
    monitoring.addLine(connect, 'SocketConnectFailed', {
      logGroup: connect.logGroup,
      where: { message: 'connect failed' },
      threshold: 3,
      alarm: 'ticket',
    });
  }

  #addDisconnect({ defaults, table }: RealtimeSurfaceProps): void {
    const disconnect = new ServiceFunction(this, 'Disconnect', {
      defaults,
      bundle: 'socket-disconnect',
      env: SocketDisconnectEnv,
      memoryMb: 256,
      timeout: QUICK,
    });
    table.grant(disconnect, 'socket-disconnect');
    this.#addRoute('$disconnect', disconnect);
  }

  #addDefault({ defaults }: RealtimeSurfaceProps): void {
    const fallback = new ServiceFunction(this, 'Default', {
      defaults,
      bundle: 'socket-default',
      env: SocketDefaultEnv,
      memoryMb: 128,
      timeout: QUICK,
    });
    const route = this.#addRoute('$default', fallback, '$default');
    new CfnRouteResponse(this, 'Answer', {
      apiId: this.#api.ref,
      routeId: route.ref,
      routeResponseKey: '$default',
    });
  }

  #addPush({ defaults, table, monitoring }: RealtimeSurfaceProps): void {
    const push = new ServiceFunction(this, 'Push', {
      defaults,
      bundle: 'socket-push',
      env: SocketPushEnv,
      memoryMb: 256,
      timeout: PUSH_TIMEOUT,
    });
    table.grant(push, 'socket-push');
    table.deliverChanges(push, {
      partitions: SHOWN_PARTITIONS,
      batchSize: 100,
      window: PING_WINDOW,
      retries: 2,
      maxAge: PING_AGE_MAX,
      reportsFailures: false,
    });
    push.allow(
      new PolicyStatement({
        actions: ['execute-api:ManageConnections'],
        resources: ['POST', 'DELETE'].map((method) => this.#arn(`${SOCKET_STAGE}/${method}/@connections/*`)),
      }),
    );
    // Read by the SDK itself; it has no default, because every stage has a host of its own.
    push.setEnv('AWS_ENDPOINT_URL_APIGATEWAYMANAGEMENTAPI', `https://${this.domainName}${this.originPath}`);
    monitoring.addLine(push, 'PingsFailed', {
      logGroup: push.logGroup,
      where: { type: 'platform.report', 'record.status': ['error', 'timeout', 'failure'] },
      threshold: 3,
      alarm: 'ticket',
    });
  }

  #addRoute(routeKey: string, target: ServiceFunction, responseExpression?: string): CfnRoute {
    const name = target.node.id;
    const integration = new CfnIntegration(this, `${name}Integration`, {
      apiId: this.#api.ref,
      integrationType: 'AWS_PROXY',
      integrationUri: `arn:${Aws.PARTITION}:apigateway:${Aws.REGION}:lambda:path/2015-03-31/functions/${target.fn.functionArn}/invocations`,
    });
    new CfnPermission(this, `${name}Permission`, {
      action: 'lambda:InvokeFunction',
      functionName: target.fn.functionArn,
      principal: new ServicePrincipal('apigateway.amazonaws.com').service,
      sourceArn: this.#arn(`*/${routeKey}`),
    });
    return new CfnRoute(this, `${name}Route`, {
      apiId: this.#api.ref,
      routeKey,
      authorizationType: 'NONE',
      target: `integrations/${integration.ref}`,
      ...(responseExpression === undefined ? {} : { routeResponseSelectionExpression: responseExpression }),
    });
  }

  #addStage({ logRetentionDays, monitoring }: RealtimeSurfaceProps): void {
    const logGroup = new LogGroup(this, 'AccessLogs', {
      retention: logRetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const stage = new CfnStage(this, 'Stage', {
      apiId: this.#api.ref,
      stageName: SOCKET_STAGE,
      autoDeploy: true,
      defaultRouteSettings: { throttlingBurstLimit: BURST_MAX, throttlingRateLimit: RATE_MAX_PER_SECOND },
      accessLogSettings: {
        destinationArn: logGroup.logGroupArn,
        format: JSON.stringify(ACCESS_LOG_FIELDS),
      },
    });
    monitoring.addLine(this, 'SocketErrors', {
      logGroup,
      where: { status: ['500', '502', '503', '504'] },
      threshold: 3,
      alarm: 'ticket',
    });
    stage.addResourceDependency(this.#letGatewayLog());
  }

  /**
   * Gives API Gateway the role with which it writes logs: a WebSocket API writes access logs only with it. The role is
   * a setting of the account, so it stays when the stack is deleted; others may rely on it by then.
   */
  #letGatewayLog(): CfnAccount {
    const role = new Role(this, 'LogRole', {
      assumedBy: new ServicePrincipal('apigateway.amazonaws.com'),
      inlinePolicies: {
        logs: new PolicyDocument({
          statements: [
            new PolicyStatement({
              actions: [
                'logs:CreateLogGroup',
                'logs:CreateLogStream',
                'logs:DescribeLogGroups',
                'logs:DescribeLogStreams',
                'logs:PutLogEvents',
                'logs:GetLogEvents',
                'logs:FilterLogEvents',
              ],
              // The service refuses a role that cannot write to any group.
              resources: ['*'],
            }),
          ],
        }),
      },
    });
    role.applyRemovalPolicy(RemovalPolicy.RETAIN);
    const account = new CfnAccount(this, 'Account', { cloudWatchRoleArn: role.roleArn });
    account.applyRemovalPolicy(RemovalPolicy.RETAIN);
    return account;
  }

  #arn(rest: string): string {
    return `arn:${Aws.PARTITION}:execute-api:${Aws.REGION}:${Aws.ACCOUNT_ID}:${this.#api.ref}/${rest}`;
  }
}
