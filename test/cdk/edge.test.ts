import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { SOCKET_PATH } from '#core/contracts/realtime/realtime.ts';
import { CATCH_ALL_SURFACE, ROUTES } from '#core/contracts/routes/routes.ts';
import { BORROWED, FULL, readTemplate, type StackTemplate } from '../support/template.ts';

const template = readTemplate();
const named = readTemplate(FULL);
const distribution = template.only('AWS::CloudFront::Distribution').Properties.DistributionConfig;

/** AWS's own policies, whose ids its documentation lists. */
const CACHING_DISABLED = '4135ea2d-6df8-44a3-9df3-4b5a84be39ad';
const CACHING_OPTIMIZED = '658327ea-f89d-4fab-a63d-7e88639e58f6';
const ALL_BUT_HOST = 'b689b0a8-53d0-40ab-baf2-68738e2966ac';

interface RuleOfAcl {
  readonly Name: string;
  readonly Priority: number;
  readonly Statement: Readonly<
    Partial<
      Record<
        'RateBasedStatement' | 'ManagedRuleGroupStatement',
        { readonly Limit?: number; readonly ScopeDownStatement?: unknown }
      >
    >
  >;
}

describe('routes', () => {
  const apiOf = (type: string): string => {
    const [id] =
      template.ofType('AWS::ApiGatewayV2::Api').find(([, api]) => api.Properties.ProtocolType === type) ?? [];
    if (id === undefined) throw new Error(`no ${type} API`);
    return id;
  };
  const functionOf = (uri: unknown): string | undefined => {
    const id = /"Fn::GetAtt":\["(\w+)Function[0-9A-F]{8}","Arn"\]/.exec(JSON.stringify(uri));
    return id?.[1];
  };
  const routesOf = (api: string): unknown[] =>
    template
      .ofType('AWS::ApiGatewayV2::Route')
      .filter(([, { Properties }]) => Properties.ApiId.Ref === api)
      .map(([, { Properties }]) => {
        const integration = template.get(Properties.Target['Fn::Join'][1][1].Ref);
        return `${Properties.RouteKey} -> ${functionOf(integration.Properties.IntegrationUri)}`;
      })
      .sort();

  test('of the HTTP API are the route table, the page and the catch-all', () => {
    const construct = {
      'webhooks-forge': 'WebhooksForge',
      'webhooks-payments': 'WebhooksPayments',
      public: 'Public',
      api: 'Api',
      evidence: 'Evidence',
      advice: 'Advice',
      billing: 'Billing',
      connections: 'Connections',
      'forge-ops': 'ForgeOps',
      admin: 'Admin',
      'container-health': 'ContainerHealth',
    } as const;
    expect(routesOf(apiOf('HTTP'))).toEqual(
      [
        `$default -> ${construct[CATCH_ALL_SURFACE]}`,
        'GET / -> DashboardSite',
        'GET /api/{rest+} -> Public',
        'GET /{page+} -> DashboardSite',
        ...ROUTES.map((route) => `${route.method} ${route.path} -> ${construct[route.surface]}`),
      ].sort(),
    );
  });

  test('of the socket are its three', () => {
    expect(routesOf(apiOf('WEBSOCKET'))).toEqual([
      '$connect -> RealtimeConnect',
      '$default -> Realtime',
      '$disconnect -> RealtimeDisconnect',
    ]);
  });

  test('nothing public leads to the engine (A99)', () => {
    expect(template.ofType('AWS::ApiGatewayV2::VpcLink')).toEqual([]);
    expect(ROUTES.map((route) => route.path).filter((path) => path.includes('internal'))).toEqual([]);
  });

  test('access logs hold no query string and no header', () => {
    for (const [, stage] of template.ofType('AWS::ApiGatewayV2::Stage')) {
      expect(stage.Properties.AccessLogSettings.Format).not.toMatch(
        /query|header|authorizer|requestOverride/i,
      );
    }
  });

  test('the table fits the limits of one API', () => {
    expect(ROUTES.length).toBeLessThan(290);
    expect(Object.keys(template.resources).length).toBeLessThan(450);
  });
});

describe('one address carries the whole contract', () => {
  const behaviours = [
    { PathPattern: 'default', ...distribution.DefaultCacheBehavior },
    ...distribution.CacheBehaviors,
  ];
  const behaviour = (path: string) => {
    const found = behaviours.find((each) => each.PathPattern === path);
    const origin = distribution.Origins.find((each: { Id: string }) => each.Id === found.TargetOriginId);
    return { found, origin: JSON.stringify(origin.DomainName), path: origin.OriginPath };
  };

  test('API and page come from the HTTP API, nothing of them cached but hashed files', () => {
    for (const path of ['default', '/api/*']) {
      const { found, origin } = behaviour(path);
      expect(origin).toContain('HttpApi');
      expect(found).toMatchObject({
        CachePolicyId: CACHING_DISABLED,
        OriginRequestPolicyId: ALL_BUT_HOST,
        AllowedMethods: expect.arrayContaining(['GET', 'POST', 'PATCH', 'DELETE']),
      });
    }
    expect(behaviour('/assets/*').found).toMatchObject({ CachePolicyId: CACHING_OPTIMIZED, Compress: true });
  });

  /**
   * The statuses that the edge keeps for ten seconds whatever `Cache-Control` says: "How CloudFront processes HTTP 4xx and 5xx
   * status codes from your origin" (https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/HTTPStatusCodes.html),
   * and how long (https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/custom-error-pages-expiration.html).
   */
  test('what one caller is refused with is not what all who ask for the same path get for ten seconds', () => {
    const alwaysKept = [404, 405, 414, 500, 501, 502, 503, 504];
    const kept = alwaysKept.map((ErrorCode) => ({ ErrorCode, ErrorCachingMinTTL: 0 }));
    expect(distribution.CustomErrorResponses).toEqual(kept);
  });

  test('a call with a credential never goes over plain HTTP', () => {
    expect(behaviour('/api/*').found.ViewerProtocolPolicy).toBe('https-only');
    expect(behaviour(SOCKET_PATH).found.ViewerProtocolPolicy).toBe('https-only');
    for (const { ViewerProtocolPolicy } of behaviours) expect(ViewerProtocolPolicy).not.toBe('allow-all');
    for (const { CustomOriginConfig } of distribution.Origins) {
      expect(CustomOriginConfig.OriginProtocolPolicy).toBe('https-only');
    }
  });

  test('the socket’s path goes to the socket’s API, before the API’s own', () => {
    const { found, origin, path } = behaviour(SOCKET_PATH);
    expect(origin).toContain('RealtimeApi');
    // The function gives the whole path, so that no slash follows the stage.
    expect(path).toBeUndefined();
    expect(found).toMatchObject({ CachePolicyId: CACHING_DISABLED, OriginRequestPolicyId: ALL_BUT_HOST });
    const order = distribution.CacheBehaviors.map((each: { PathPattern: string }) => each.PathPattern);
    expect(order.indexOf(SOCKET_PATH)).toBeLessThan(order.indexOf('/api/*'));
  });

  const runAtEdge = (id: string, event: { readonly request: unknown; readonly viewer?: unknown }) => {
    const found = template.ofType('AWS::CloudFront::Function').find(([each]) => each.startsWith(id))?.[1];
    return runInNewContext(`${found?.Properties.FunctionCode}; handler(event)`, { event });
  };

  test('its path is rewritten to the stage, and the query with the ticket is kept', () => {
    const stage = template.ofType('AWS::ApiGatewayV2::Stage').find(([id]) => id.startsWith('Realtime'))?.[1];
    const request = {
      uri: SOCKET_PATH,
      method: 'GET',
      querystring: { ticket: { value: 'abc' } },
      headers: { 'x-mergeyard-viewer': { value: 'forged' } },
    };
    const viewer = { ip: '198.51.100.7' };
    expect(runAtEdge('EdgeSocketPath', { request: structuredClone(request), viewer })).toEqual({
      ...request,
      uri: `/${stage?.Properties.StageName}`,
      headers: { 'x-mergeyard-viewer': { value: viewer.ip } },
    });
  });

  test('the API is told who called, whatever the caller says, with a stamp that it knows', () => {
    const headers = { 'x-mergeyard-viewer': { value: 'forged' }, accept: { value: '*/*' } };
    const answer = runAtEdge('EdgeViewerAddress', {
      request: { uri: '/api/v1/me', headers },
      viewer: { ip: '198.51.100.7' },
    });
    expect(answer.headers).toEqual({ ...headers, 'x-mergeyard-viewer': { value: '198.51.100.7' } });
    const stampOf = ({ TargetOriginId }: { TargetOriginId: string }) => {
      const origin = distribution.Origins.find((each: { Id: string }) => each.Id === TargetOriginId);
      return origin.OriginCustomHeaders[0];
    };
    const { found } = behaviour('/api/*');
    for (const path of ['default', '/api/*', SOCKET_PATH]) {
      const functions = JSON.stringify(behaviour(path).found.FunctionAssociations);
      expect(functions).toContain(path === SOCKET_PATH ? 'EdgeSocketPath' : 'EdgeViewerAddress');
      expect(stampOf(behaviour(path).found)).toEqual(stampOf(found));
    }
    const stamp = stampOf(found);
    expect(stamp.HeaderName).toBe('x-mergeyard-stamp');
    const limiting = [
      'Admin',
      'Api',
      'Billing',
      'Connections',
      'ContainerHealth',
      'Evidence',
      'ForgeOps',
      'Public',
      'Advice',
    ];
    for (const fn of [...limiting, 'RealtimeConnect']) {
      expect(template.functionNamed(fn).Properties.Environment.Variables.EDGE_STAMP).toEqual(
        stamp.HeaderValue,
      );
    }
    const behind = readTemplate(BORROWED);
    expect(behind.functionNamed('Api').Properties.Environment.Variables.EDGE_STAMP).toBe('');
  });

  const fileOf = (name: string): string => {
    if (name === 'advice') return 'engine-container/src/advice.handler.ts';
    return name.includes('/') ? `lambdas/${name}.handler.ts` : `lambdas/${name}/handler.ts`;
  };

  test('with rules at the edge, every function behind it asks for the stamp; without, none does', () => {
    const behind = [
      'Admin',
      'Api',
      'Billing',
      'Connections',
      'ContainerHealth',
      'Evidence',
      'ForgeOps',
      'Public',
      'Advice',
    ];
    const all = [...behind, 'WebhooksForge', 'WebhooksPayments', 'DashboardSite', 'RealtimeConnect'];
    const handlers = [
      'admin',
      'api',
      'billing',
      'connections',
      'container-health',
      'evidence',
      'forge-ops',
      'public',
      'advice',
      'site',
      'realtime/connect',
      'webhooks/forge',
      'webhooks/payments',
    ];
    expect(handlers).toHaveLength(all.length);
    for (const name of handlers) {
      const file = fileOf(name);
      expect([file, readFileSync(file, 'utf8').includes('env.REQUIRED_STAMP')]).toEqual([file, true]);
    }
    const stampsOf = (stack: StackTemplate) =>
      all.map((fn) =>
        JSON.stringify(stack.functionNamed(fn).Properties.Environment.Variables.REQUIRED_STAMP),
      );
    const own = readTemplate(FULL);
    const { EDGE_STAMP } = own.functionNamed('Api').Properties.Environment.Variables;
    expect(new Set(stampsOf(own))).toEqual(new Set([JSON.stringify(EDGE_STAMP)]));
    expect(JSON.stringify(EDGE_STAMP)).toMatch(/EdgeHeaders/);
    expect(new Set(stampsOf(readTemplate()))).toEqual(new Set(['""']));
    // Something else stands in front: the distribution's stamp is on no request.
    expect(new Set(stampsOf(readTemplate(BORROWED)))).toEqual(new Set(['""']));
    const routes = own.ofType('AWS::ApiGatewayV2::Integration').length;
    // And the two of the socket that are never asked by a client without `$connect`.
    expect(routes).toBe(all.length + 2);
  });

  test('everything that tells where the service is tells this address', () => {
    const edge = /EdgeDistribution\w+","DomainName/;
    const value = (fn: string, key: string): string =>
      JSON.stringify(template.functionNamed(fn).Properties.Environment.Variables[key]);
    expect(value('ForgeOps', 'WEBHOOK_URL')).toMatch(edge);
    expect(value('RealtimeConnect', 'PUBLIC_URL')).toMatch(edge);
    expect(JSON.stringify(template.outputs.BaseUrl)).toMatch(edge);
  });

  test('an address of one’s own takes its place everywhere', () => {
    const config = named.only('AWS::CloudFront::Distribution').Properties.DistributionConfig;
    expect(config).toMatchObject({
      Aliases: ['queue.example.org'],
      ViewerCertificate: { MinimumProtocolVersion: 'TLSv1.2_2021' },
    });
    expect(named.outputs.BaseUrl?.Value).toBe('https://queue.example.org');
    expect(named.functionNamed('ForgeOps').Properties.Environment.Variables.WEBHOOK_URL).toBe(
      'https://queue.example.org/api/v1/webhooks/forge',
    );
    expect(named.only('AWS::Route53::RecordSetGroup').Properties.RecordSets).toHaveLength(2);
    expect(named.only('AWS::Cognito::UserPoolClient').Properties.CallbackURLs).toEqual([
      'https://queue.example.org/sign-in/callback',
    ]);
  });

  /**
   * "A rate-based rule statement without a scope-down statement rate limits all requests that the rule evaluates", by address, and a
   * managed rule group inspects bodies (AWS, "Using scope-down statements in AWS WAF",
   * https://docs.aws.amazon.com/waf/latest/developerguide/waf-rule-scope-down-statements.html).
   */
  test('the events of a forge are no flood, and what a pull request quotes is no attack', () => {
    const { Rules } = named.only('AWS::WAFv2::WebACL').Properties;
    const webhooks = {
      ByteMatchStatement: {
        FieldToMatch: { UriPath: {} },
        PositionalConstraint: 'STARTS_WITH',
        SearchString: '/api/v1/webhooks/',
        TextTransformations: [{ Priority: 0, Type: 'NONE' }],
      },
    };
    const others = { NotStatement: { Statement: webhooks } };
    const rules = Rules.map(
      ({ Name, Statement: { RateBasedStatement: rate, ManagedRuleGroupStatement: group } }: RuleOfAcl) => [
        Name,
        rate?.Limit,
        (rate ?? group)?.ScopeDownStatement,
      ],
    );
    expect(rules).toEqual([
      ['Flood', 3000, others],
      ['AWSManagedRulesAmazonIpReputationList', undefined, undefined],
      ['AWSManagedRulesKnownBadInputsRuleSet', undefined, others],
      ['FloodOfEvents', 60_000, webhooks],
    ]);
    expect(new Set(Rules.map(({ Priority }: RuleOfAcl) => Priority)).size).toBe(Rules.length);
  });

  test('rules at the edge are made on demand, or taken from elsewhere', () => {
    expect(template.ofType('AWS::WAFv2::WebACL')).toEqual([]);
    expect(distribution.WebACLId).toBeUndefined();
    const acl = named.only('AWS::WAFv2::WebACL').Properties;
    expect(acl.Scope).toBe('CLOUDFRONT');
    expect(JSON.parse(acl.CustomResponseBodies.TooMany.Content)).toEqual({
      error: { code: 'rate_limited', message: expect.any(String), retryable: true },
    });
    const borrowed = readTemplate(BORROWED).only('AWS::CloudFront::Distribution').Properties;
    expect(borrowed.DistributionConfig.WebACLId).toBe(BORROWED.webAclArn);
  });
});

test('outputs have names that stand still', () => {
  expect(Object.keys(named.outputs).sort()).toEqual([
    'AdminKeySecretArn',
    'ApiUrl',
    'BaseUrl',
    'CredentialKeyArn',
    'DashboardUrl',
    'Deployed',
    'DistributionDomainName',
    'EngineClusterName',
    'EngineServiceName',
    'ForgeWebhookUrl',
    'MonitoringDashboardUrl',
    'PageTopicArn',
    'PaymentsKeyArn',
    'PaymentsReadKeyArn',
    'PaymentsWebhookSecretArn',
    'SocketUrl',
    'TableName',
    'TicketTopicArn',
    'UserPoolId',
    'WakeQueueUrl',
  ]);
  for (const { Description } of Object.values(named.outputs)) expect(Description).not.toBe('');
});

test('everything is tagged, and a budget counts by that', () => {
  const tags = named.only('AWS::DynamoDB::GlobalTable').Properties.Replicas[0].Tags;
  expect(
    Object.fromEntries(tags.map(({ Key, Value }: { Key: string; Value: string }) => [Key, Value])),
  ).toEqual({
    service: 'mergeyard',
    stage: 'prod',
    deployment: 'Test',
    owner: 'platform',
  });
  const { Budget, NotificationsWithSubscribers } = named.only('AWS::Budgets::Budget').Properties;
  expect(Budget).toMatchObject({
    BudgetLimit: { Amount: 40, Unit: 'USD' },
    CostFilters: { TagKeyValue: ['user:deployment$Test'] },
  });
  expect(NotificationsWithSubscribers).toHaveLength(2);
});

/**
 * Policies and functions of CloudFront belong to the account, not to a region (AWS, "CreateResponseHeadersPolicy": a name that is
 * in use is refused). Roles have no name of ours, and domains of user pools are unique within a region.
 */
test('a second region of the same account meets no name of the first', () => {
  const full = named;
  const names = Object.entries(full.resources).flatMap(([id, { Type, Properties }]) => {
    if (!Type.startsWith('AWS::CloudFront::')) return [];
    // A policy has all of it inside of its one property.
    const { Name } = Type.endsWith('Policy')
      ? (Object.values<{ Name?: unknown }>(Properties)[0] ?? {})
      : Properties;
    return Name === undefined ? [] : [[id, JSON.stringify(Name)] as const];
  });
  expect(names.length).toBeGreaterThanOrEqual(3);
  for (const [id, name] of names) expect([id, name]).toEqual([id, expect.stringContaining('AWS::Region')]);
  const roles = full
    .ofType('AWS::IAM::Role')
    .filter(([, { Properties }]) => Properties.RoleName !== undefined);
  expect(roles).toEqual([]);
});
