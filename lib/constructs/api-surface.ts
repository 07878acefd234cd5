import { Aws, Duration, RemovalPolicy } from 'aws-cdk-lib';
import { CfnIntegration, CfnRoute, CfnStage, HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { CfnPermission } from 'aws-cdk-lib/aws-lambda';
import { FilterPattern, LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { HttpSurface } from '../../core/contracts/routes/route-spec.ts';
import { CATCH_ALL_SURFACE, ROUTES } from '../../core/contracts/routes/routes.ts';
import { SITE_ROUTES } from './dashboard-site.ts';
import type { Monitoring } from './monitoring.ts';
import { apiHostOf } from './public-edge.ts';
import type { ServiceFunction } from './service-function.ts';

export interface ApiSurfaceProps {
  readonly monitoring: Monitoring;
  readonly logRetentionDays: number;
}

/**
 * The gateway's limit for all tenants together. The limit of one tenant (429 in the envelope) is that of the handlers.
 */
const BURST_MAX = 1000;
const RATE_MAX_PER_SECOND = 500;

/**
 * The route of the engine's health, which needs no session and answers 503 while the engine sleeps. Its errors are left
 * out of the alarm: a stranger could page the operator.
 */
const HEALTH_ROUTE = 'GET /api/container-health';

/**
 * Fields of the access log. The query string is left out because it may carry a ticket, headers because they may carry
 * a credential.
 */
const ACCESS_LOG_FIELDS = {
  request_id: '$context.requestId',
  at: '$context.requestTime',
  ip: '$context.identity.sourceIp',
  route: '$context.routeKey',
  path: '$context.path',
  status: '$context.status',
  bytes: '$context.responseLength',
  duration_ms: '$context.responseLatency',
  integration_error: '$context.integrationErrorMessage',
};

/** HTTP API whose routes are the route table. One integration and one permission per function, not per route. */
export class ApiSurface extends Construct {
  readonly api: HttpApi;
  /** Host name of the API at the gateway; people use the name of the distribution. */
  readonly host: string;

  constructor(scope: Construct, id: string, props: ApiSurfaceProps) {
    super(scope, id);
    this.api = new HttpApi(this, 'Api', { createDefaultStage: false });
    const logGroup = this.#addStage(props.logRetentionDays);
    this.host = apiHostOf(this.api.apiId);
    props.monitoring.addAlarm(this, 'ServerErrorAlarm', {
      metric: props.monitoring.countLines(this, 'ServerError', {
        logGroup,
        pattern: FilterPattern.all(
          FilterPattern.stringValue('$.status', '=', '5*'),
          FilterPattern.stringValue('$.route', '!=', HEALTH_ROUTE),
        ),
        period: Duration.minutes(5),
      }),
      threshold: 5,
      severity: 'page',
      meaning: 'Requests end in a 5xx.',
    });
  }

  /** The route table, the catch-all, and the addresses of the page. */
  addRoutes(surfaces: Readonly<Record<HttpSurface, ServiceFunction>>, site: ServiceFunction): void {
    const targets = new Map<string, string>();
    for (const [surface, fn] of Object.entries({ ...surfaces, site })) {
      targets.set(surface, this.#integrate(surface, fn));
    }
    const addRoute = (routeKey: string, surface: HttpSurface | 'site'): void => {
      const name = routeKey.replace(/[^A-Za-z0-9]+/g, '-');
      new CfnRoute(this, `Route-${name}`, {
        apiId: this.api.apiId,
        routeKey,
        target: `integrations/${targets.get(surface)}`,
      });
    };
    for (const route of ROUTES) addRoute(`${route.method} ${route.path}`, route.surface);
    for (const routeKey of SITE_ROUTES) addRoute(routeKey, 'site');
    // Else the page's own route would take what nothing serves under the API's addresses.
    addRoute('GET /api/{rest+}', CATCH_ALL_SURFACE);
    addRoute('$default', CATCH_ALL_SURFACE);
  }

  #integrate(surface: string, target: ServiceFunction): string {
    const integration = new CfnIntegration(this, `Integration-${surface}`, {
      apiId: this.api.apiId,
      integrationType: 'AWS_PROXY',
      integrationUri: target.fn.functionArn,
      payloadFormatVersion: '2.0',
    });
    new CfnPermission(this, `Permission-${surface}`, {
      action: 'lambda:InvokeFunction',
      functionName: target.fn.functionArn,
      principal: new ServicePrincipal('apigateway.amazonaws.com').service,
      sourceArn: `arn:${Aws.PARTITION}:execute-api:${Aws.REGION}:${Aws.ACCOUNT_ID}:${this.api.apiId}/*/*`,
    });
    return integration.ref;
  }

  #addStage(retentionDays: number): LogGroup {
    const logGroup = new LogGroup(this, 'AccessLogs', {
      retention: retentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    new CfnStage(this, 'Stage', {
      apiId: this.api.apiId,
      stageName: '$default',
      autoDeploy: true,
      defaultRouteSettings: { throttlingBurstLimit: BURST_MAX, throttlingRateLimit: RATE_MAX_PER_SECOND },
      accessLogSettings: {
        destinationArn: logGroup.logGroupArn,
        format: JSON.stringify(ACCESS_LOG_FIELDS),
      },
    });
    return logGroup;
  }
}
