import { BORROWED, FULL, readTemplate } from '../support/template.ts';

const template = readTemplate();
const prod = readTemplate(FULL);

/** Replacing one of these loses tenants' data, tokens or accounts, or every address that was given out. */
const STATEFUL = [
  'AWS::DynamoDB::GlobalTable',
  'AWS::KMS::Key',
  'Custom::Secret',
  'AWS::Cognito::UserPool',
  'AWS::Cognito::UserPoolDomain',
  'AWS::ApiGatewayV2::Api',
  'AWS::CloudFront::Distribution',
  'AWS::SQS::Queue',
];

test('logical ids of what holds data or an address stand still', () => {
  expect(STATEFUL.flatMap((type) => prod.ofType(type).map(([id]) => id))).toEqual([
    'DataTableFDBAD0F2',
    'CredentialsKey849F44B7',
    'EvidenceKey16700A33',
    'EngineStampParameter7BB4D395',
    'AdminKeyParameter5122EB36',
    'PaymentsStoredKeyParameter2142E1DD',
    'PaymentsStoredReadKeyParameterF71B74CF',
    'PaymentsStoredWebhookSecretParameterF3BD8C7A',
    'IdentityUsers61009EFD',
    'IdentityUsersSignInF3218898',
    'HttpApi4E1D4184',
    'RealtimeApi3CD9A4BB',
    'EdgeDistribution0060737B',
    'QueueDeadWakes6F6FEDB9',
    'QueueWakesB13AE61B',
    'QueueDeadLetters9B423CAD',
    'QueueDelayed3FA1C329',
  ]);
});

describe('the table', () => {
  test('has point-in-time recovery, a stream, a TTL and no fixed capacity', () => {
    const { Properties } = template.only('AWS::DynamoDB::GlobalTable');
    expect(Properties).toMatchObject({
      BillingMode: 'PAY_PER_REQUEST',
      StreamSpecification: { StreamViewType: 'KEYS_ONLY' },
      TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
    });
    expect(Properties.Replicas).toEqual([
      expect.objectContaining({ PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } }),
    ]);
  });

  test('is read by at most two consumers of its stream, each with limits on a record that fails', () => {
    const consumers = template
      .ofType('AWS::Lambda::EventSourceMapping')
      .filter(([, { Properties }]) => Properties.StartingPosition !== undefined);
    expect(consumers).toHaveLength(2);
    for (const [, { Properties }] of consumers) {
      expect(Properties.MaximumRetryAttempts).toBeGreaterThanOrEqual(0);
      expect(Properties.MaximumRecordAgeInSeconds).toBeGreaterThanOrEqual(60);
      expect(Properties.FilterCriteria.Filters).toHaveLength(1);
    }
  });
});

// At most 10, and 1 where nothing is said ("Lambda parameters for Amazon DynamoDB event source mappings",
// https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-params.html, ParallelizationFactor).
test('notices of one tenant whose receivers hang leave room for those of others: ten deliveries of a shard at once', () => {
  const atOnce = template
    .ofType('AWS::Lambda::EventSourceMapping')
    .filter(([, { Properties }]) => Properties.StartingPosition !== undefined)
    .map(([, { Properties }]) => [
      Properties.DestinationConfig === undefined ? 'pings' : 'notices',
      Properties.ParallelizationFactor ?? 1,
    ]);
  expect(atOnce.sort()).toEqual([
    ['notices', 10],
    ['pings', 1],
  ]);
});

/**
 * AWS KMS, "Asymmetric KMS keys": a key pair of a spec and a usage that never change. "Rotate AWS KMS keys": automatic rotation is
 * for symmetric encryption keys alone.
 */
test('the key that signs is made where it is asked for, on P-256, and is not told to rotate', () => {
  const keys = prod.ofType('AWS::KMS::Key').filter(([id]) => id.startsWith('EvidenceKey'));
  expect(keys.map(([, { Properties }]) => [Properties.KeySpec, Properties.KeyUsage])).toEqual([
    ['ECC_NIST_P256', 'SIGN_VERIFY'],
  ]);
  expect(keys[0]?.[1].Properties).not.toHaveProperty('EnableKeyRotation');
  expect(template.functionNamed('Evidence').Properties.Environment.Variables.EVIDENCE_KEY_ID).toBe('');
});

test('the key rotates', () => {
  expect(template.only('AWS::KMS::Key').Properties.EnableKeyRotation).toBe(true);
});

describe('in prod', () => {
  test.each(['AWS::DynamoDB::GlobalTable', 'AWS::KMS::Key', 'AWS::Cognito::UserPool'])(
    '%s survives the stack',
    (type) => {
      for (const [, resource] of prod.ofType(type)) {
        expect(resource).toMatchObject({
          DeletionPolicy: 'RetainExceptOnCreate',
          UpdateReplacePolicy: 'Retain',
        });
      }
      expect(template.only(type).DeletionPolicy).toBe('Delete');
    },
  );

  test('table and user pool refuse deletion', () => {
    expect(prod.only('AWS::DynamoDB::GlobalTable').Properties.Replicas[0].DeletionProtectionEnabled).toBe(
      true,
    );
    expect(prod.only('AWS::Cognito::UserPool').Properties.DeletionProtection).toBe('ACTIVE');
  });
});

describe('the engine', () => {
  const task = template.only('AWS::ECS::TaskDefinition').Properties;
  const service = template.only('AWS::ECS::Service').Properties;

  test('is ARM64, not root, without a capability, on a read-only file system, with a health check', () => {
    expect(task.RuntimePlatform.CpuArchitecture).toBe('ARM64');
    const [container] = task.ContainerDefinitions;
    expect(container).toMatchObject({ User: '1000:1000', ReadonlyRootFilesystem: true });
    expect(container.LinuxParameters.Capabilities).toEqual({ Drop: ['ALL'] });
    expect(container.HealthCheck.Command.join(' ')).toContain('/healthz');
    // Without a mode it is the account's `defaultLogDriverMode`, and with `blocking` a write to a log that cannot be sent halts
    // the engine (https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_LogConfiguration.html).
    expect(container.LogConfiguration).toMatchObject({
      LogDriver: 'awslogs',
      Options: { mode: 'non-blocking', 'max-buffer-size': `${25 * 1024 * 1024}b` },
    });
  });

  test('has one open door, for the worker', () => {
    const { Properties } = template.only('AWS::EC2::SecurityGroupIngress');
    expect(Properties).toMatchObject({ IpProtocol: 'tcp', FromPort: 8080, ToPort: 8080 });
    expect(Properties.SourceSecurityGroupId['Fn::GetAtt'][0]).toMatch(/^NetworkWorkerGroup/);
    for (const [, group] of template.ofType('AWS::EC2::SecurityGroup')) {
      expect(group.Properties.SecurityGroupIngress).toBeUndefined();
    }
  });

  test('is deployed with a circuit breaker and no shell, in a network without NAT', () => {
    expect(service.EnableExecuteCommand).toBe(false);
    expect(service.DeploymentConfiguration).toMatchObject({
      DeploymentCircuitBreaker: { Enable: true, Rollback: true },
      MinimumHealthyPercent: 100,
    });
    expect(template.ofType('AWS::EC2::NatGateway')).toEqual([]);
    expect(template.ofType('AWS::ElasticLoadBalancingV2::LoadBalancer')).toEqual([]);
    expect(template.only('AWS::EC2::VPCEndpoint').Properties.VpcEndpointType).toBe('Gateway');
  });

  test('takes no elastic address, so that no quota of them is in the way', () => {
    expect(template.ofType('AWS::EC2::EIP')).toEqual([]);
    expect(service.NetworkConfiguration.AwsvpcConfiguration.AssignPublicIp).toBe('ENABLED');
  });

  test('may sleep: a deployment does not set how many tasks run', () => {
    expect(service.DesiredCount).toBeUndefined();
  });

  test('a prebuilt image is taken as it is', () => {
    const [container] = prod.only('AWS::ECS::TaskDefinition').Properties.ContainerDefinitions;
    expect(container.Image).toBe('registry.example/engine@sha256:abc');
  });
});

describe('identity (D-93)', () => {
  const environment = (from: typeof template): Record<string, unknown> =>
    from.functionNamed('Api').Properties.Environment.Variables;

  test('without a provider of the operator, a user pool is made, with the group of administrators', () => {
    expect(template.only('AWS::Cognito::UserPoolGroup').Properties.GroupName).toBe('admin');
    expect(environment(template)).toMatchObject({ IDENTITY_KIND: 'cognito' });
  });

  test('its page gives tokens that GetUser takes, for a code and to the dashboard’s address only', () => {
    const client = template.only('AWS::Cognito::UserPoolClient').Properties;
    expect(client.AllowedOAuthFlows).toEqual(['code']);
    expect(client.AllowedOAuthScopes).toContain('aws.cognito.signin.user.admin');
    expect(client.GenerateSecret).toBeUndefined();
    expect(JSON.stringify(client.CallbackURLs)).toMatch(/EdgeDistribution.*\/sign-in\/callback/);
    expect(client.CallbackURLs).toHaveLength(1);
  });

  test('a fresh deployment takes no user who was not invited, unless it says so', () => {
    const isClosed = (from: typeof template) =>
      from.only('AWS::Cognito::UserPool').Properties.AdminCreateUserConfig.AllowAdminCreateUserOnly;
    expect(isClosed(template)).toBe(true);
    expect(isClosed(prod)).toBe(false);
    const page = (from: typeof template) =>
      from.functionNamed('DashboardSite').Properties.Environment.Variables;
    expect([page(template).SIGN_UP, page(prod).SIGN_UP]).toEqual(['closed', 'open']);
  });

  /**
   * AWS, "AWS::Cognito::UserPool UsernameConfiguration": with `true`, "users must sign in using the exact capitalization of their
   * given username ... This is the default value"
   * (https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-properties-cognito-userpool-usernameconfiguration.html).
   */
  test('one mailbox is one account, however its address is spelled', () => {
    const { UsernameAttributes, UsernameConfiguration } = template.only('AWS::Cognito::UserPool').Properties;
    expect([UsernameAttributes, UsernameConfiguration]).toEqual([['email'], { CaseSensitive: false }]);
  });

  /** Older copies of that page: "This configuration is immutable after you set it". A change would keep the stage from each upgrade. */
  test('a pool that was made with the default keeps it', () => {
    const old = readTemplate({}, { tellsCapitalsApart: true });
    const { UsernameConfiguration } = old.only('AWS::Cognito::UserPool').Properties;
    expect(UsernameConfiguration).toBeUndefined();
    expect(JSON.parse(String(old.outputs.Deployed?.Value)).tellsCapitalsApart).toBe(true);
  });

  test('every user can have a second factor by an app, and text messages are none', () => {
    const { MfaConfiguration, EnabledMfas } = template.only('AWS::Cognito::UserPool').Properties;
    expect([MfaConfiguration, EnabledMfas]).toEqual(['OPTIONAL', ['SOFTWARE_TOKEN_MFA']]);
  });

  test('every user can sign in with a passkey of a device that knows its user, on the page that has them', () => {
    const pool = template.only('AWS::Cognito::UserPool').Properties;
    expect(pool.Policies.SignInPolicy.AllowedFirstAuthFactors).toEqual(['PASSWORD', 'WEB_AUTHN']);
    expect(pool.WebAuthnUserVerification).toBe('required');
    // Beside the app: a user who has one of both has a second factor.
    expect(pool.WebAuthnFactorConfiguration).toBe('MULTI_FACTOR_WITH_USER_VERIFICATION');
    const domain = template.only('AWS::Cognito::UserPoolDomain').Properties;
    expect(domain.ManagedLoginVersion).toBe(2);
    const [first, ...rest] = domain.Domain['Fn::Join'][1];
    const relying = pool.WebAuthnRelyingPartyID['Fn::Join'][1];
    expect(JSON.stringify(relying)).toContain(JSON.stringify([first, ...rest]).slice(1, -2));
    expect(JSON.stringify(relying)).toMatch(/\.auth\..*\.amazoncognito\.com/);
    // CloudFormation's schema of the type: at most 63 characters, although Cognito itself takes 127.
    const longest = { 'AWS::AccountId': '123456789012', 'AWS::Region': 'ap-northeast-1' };
    const resolved = relying.map((part: string | { Ref: keyof typeof longest }) =>
      typeof part === 'string' ? part : longest[part.Ref],
    );
    expect(resolved.join('').length).toBeLessThanOrEqual(63);
    expect(template.only('AWS::Cognito::UserPoolClient').Properties.ExplicitAuthFlows).toContain(
      'ALLOW_USER_AUTH',
    );
    const style = template.only('AWS::Cognito::ManagedLoginBranding').Properties;
    expect(style.UseCognitoProvidedValues).toBe(true);
    expect(style.ClientId).toEqual({ Ref: expect.stringMatching(/Dashboard/) });
  });

  test('a first administrator is invited when one is named', () => {
    expect(prod.only('AWS::Cognito::UserPoolUser').Properties.Username).toBe('ada@example.org');
    expect(prod.only('AWS::Cognito::UserPoolUserToGroupAttachment').Properties.GroupName).toBe('admin');
  });

  test('a provider that the operator names is asked, and no pool is made', () => {
    const named = readTemplate(BORROWED);
    expect(named.ofType('AWS::Cognito::UserPool')).toEqual([]);
    expect(environment(named)).toMatchObject({
      IDENTITY_KIND: 'gotrue',
      IDENTITY_URL: 'https://id.example.org',
      IDENTITY_API_KEY: 'anon',
      IDENTITY_SHARED_SECRET: 'false',
    });
    expect(named.functionNamed('DashboardSite').Properties.Environment.Variables).toMatchObject({
      SIGN_IN_KIND: 'gotrue',
      SIGN_IN_URL: 'https://id.example.org',
    });
  });

  test('the listing without authentication is off in production', () => {
    expect(prod.functionNamed('Connections').Properties.Environment.Variables.LEGACY_FORGE_REPOS).toBe(
      'false',
    );
  });
});
