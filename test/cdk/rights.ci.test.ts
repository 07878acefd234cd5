import { INDEX_PARTITIONS, PARTITIONS } from '#core/contracts/internal/table.ts';
import type { BundleName } from '../../lib/functions.ts';
import { TABLE_ACCESS } from '../../lib/table-access.ts';
import { FULL, listOf, readTemplate } from '../support/template.ts';

const template = readTemplate(FULL);
const DOMAIN = { domainName: FULL.domainName, certificateArn: FULL.certificateArn };
const allowed = template.allowed();

/** Actions of each function and task beyond its log, with every repetition. */
function rightsOf(service: string): Record<string, string[]> {
  const found: Record<string, string[]> = {};
  for (const { holder, Action } of allowed) {
    for (const action of listOf(Action)) {
      if (!action.startsWith(`${service}:`)) continue;
      found[holder] = [...(found[holder] ?? []), action.slice(service.length + 1)].sort();
    }
  }
  return found;
}

/** What a condition demands word by word. */
const equalsOf = (condition: unknown) =>
  (condition as { readonly StringEquals?: object } | undefined)?.StringEquals;

type Conditions = Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>;
const CONSUME = ['ChangeMessageVisibility', 'DeleteMessage', 'GetQueueAttributes', 'ReceiveMessage'];
const FOLLOW = ['DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams'];

describe('rights (A118)', () => {
  test('no action has a wildcard, and nothing is granted by exception', () => {
    for (const statement of template.statements()) {
      for (const action of listOf(statement.Action)) expect(action).not.toContain('*');
      expect(statement).not.toHaveProperty('NotAction');
      expect(statement).not.toHaveProperty('NotResource');
    }
  });

  test('no role has a policy that AWS manages', () => {
    for (const [, role] of template.ofType('AWS::IAM::Role')) {
      expect(role.Properties.ManagedPolicyArns).toBeUndefined();
    }
  });

  test('only these statements name no resource', () => {
    const wide = readTemplate()
      .allowed()
      .filter(({ Resource }) => listOf(Resource).includes('*'))
      .map(({ holder, Action }) => `${holder} ${listOf(Action)[0]}`);
    expect(wide.sort()).toEqual([
      // Interfaces of a function do not exist before; its code is denied these actions.
      'ContainerHealthRole ec2:CreateNetworkInterface',
      // Under the condition of the cluster (below).
      'ContainerHealthRole ecs:ListTasks',
      // Knows no resource.
      'EngineTaskExecutionRole ecr:GetAuthorizationToken',
      // The gateway refuses a role that cannot write to any log group.
      'RealtimeLogRole logs:CreateLogGroup',
      'WorkerRole ec2:CreateNetworkInterface',
      'WorkerRole ecs:ListTasks',
    ]);
  });

  test('within a resource, only tasks of the engine, sockets and sets of mail settings are starred', () => {
    const starred = template
      .statements()
      .filter(({ Resource }) => Resource !== '*' && JSON.stringify(Resource).includes('*'))
      .map(({ holder, Action, Resource }) => [holder, listOf(Action), JSON.stringify(Resource)] as const);
    const tasks = [['ecs:DescribeTasks'], expect.stringMatching(/:task\/".*"\/\*"/)];
    expect(starred).toEqual([
      ['WorkerRole', ...tasks],
      ['ContainerHealthRole', ...tasks],
      [
        'RealtimePushRole',
        ['execute-api:ManageConnections'],
        expect.stringMatching(/\/ws\/POST\/@connections\/\*/),
      ],
      // Which one the identity uses is the operator's choice; the condition leaves the one sender.
      ['NotificationsNotifyRole', ['ses:SendEmail'], expect.stringContaining(':configuration-set/*')],
    ]);
  });

  test('the key opens for what calls forges or uses one kind of secret, seals for what stores one, and is nothing to all others', () => {
    expect(rightsOf('kms')).toEqual({
      // Opens what is stored to ask the forge whose it is, before another login is stored with it.
      ConnectionsRole: ['Decrypt', 'GenerateDataKey'],
      // Another key, which seals and opens nothing.
      EvidenceRole: ['GetPublicKey', 'Sign'],
      ForgeOpsRole: ['Decrypt', 'GenerateDataKey'],
      NotificationsNotifyRole: ['Decrypt'],
      WebhooksForgeRole: ['Decrypt'],
      WorkerRole: ['Decrypt'],
    });
  });

  /**
   * AWS KMS, "AWS KMS condition keys": `kms:SigningAlgorithm` and `kms:MessageType` bind what `Sign` is asked for. "AWS KMS
   * permissions": `GetPublicKey` is a right of its own.
   */
  test('statements are signed by one function, with one key, as a digest, and that function writes no row of a batch', () => {
    const signing = allowed.filter(({ Action }) =>
      listOf(Action).some((each) => /^kms:(Sign|Get)/.test(each)),
    );
    expect(signing.map(({ holder, Action, Condition }) => [holder, Action, equalsOf(Condition)])).toEqual([
      ['EvidenceRole', 'kms:Sign', { 'kms:SigningAlgorithm': 'ECDSA_SHA_256', 'kms:MessageType': 'DIGEST' }],
      ['EvidenceRole', 'kms:GetPublicKey', undefined],
    ]);
    for (const { Resource } of signing)
      expect(JSON.stringify(Resource)).toMatch(/"EvidenceKey[0-9A-Z]+","Arn"/);
    const { UpdateItem, ...others } = TABLE_ACCESS.evidence ?? {};
    expect([UpdateItem, Object.keys(others).sort()]).toEqual([
      ['tokens', 'rates'],
      ['GetItem', 'Query'],
    ]);
  });

  test('what opens webhook secrets or chat addresses opens nothing else, and what seals them seals no token', () => {
    const ofTexts = allowed
      .filter(({ Action }) => /^kms:(Decrypt|GenerateDataKey)$/.test(listOf(Action)[0] ?? ''))
      .filter(({ Condition }) => equalsOf(Condition) !== undefined);
    const granted = ofTexts.map(({ holder, Action, Condition }) => [holder, Action, equalsOf(Condition)]);
    expect(granted.sort()).toEqual([
      [
        'ForgeOpsRole',
        'kms:GenerateDataKey',
        { 'kms:EncryptionContext:purpose': ['webhook-secret', 'chat-url'] },
      ],
      ['NotificationsNotifyRole', 'kms:Decrypt', { 'kms:EncryptionContext:purpose': ['chat-url'] }],
      ['WebhooksForgeRole', 'kms:Decrypt', { 'kms:EncryptionContext:purpose': ['webhook-secret'] }],
    ]);
    for (const { Condition } of ofTexts) {
      expect(Condition).toMatchObject({
        'ForAllValues:StringEquals': {
          'kms:EncryptionContextKeys': ['tenant_id', 'repo_id', 'purpose', 'v'],
        },
        Null: {
          'kms:EncryptionContext:tenant_id': 'false',
          'kms:EncryptionContext:repo_id': 'false',
        },
      });
    }
  });

  test('after its replacement the old key opens and no longer seals, until it is taken out', () => {
    const keysOf = (context: Readonly<Record<string, string>>, action: string): string[] =>
      readTemplate(context)
        .allowed()
        .filter(
          ({ holder, Action }) =>
            (action === 'kms:Decrypt' ? /^WorkerRole/ : /^ConnectionsRole/).test(holder) &&
            listOf(Action).includes(action),
        )
        .flatMap(
          ({ Resource }) => JSON.stringify(Resource).match(/CredentialsKey\d?(?=[0-9A-F]{8}")/g) ?? [],
        );
    expect(keysOf({ keyVersion: '2' }, 'kms:Decrypt')).toEqual(['CredentialsKey', 'CredentialsKey2']);
    expect(keysOf({ keyVersion: '2' }, 'kms:GenerateDataKey')).toEqual(['CredentialsKey2']);
    const done = { keyVersion: '2', oldestKeyVersion: '2' };
    expect(keysOf(done, 'kms:Decrypt')).toEqual(['CredentialsKey2']);
    const { Variables } = readTemplate(done).functionNamed('Connections').Properties.Environment;
    expect(Variables.CREDENTIAL_KEY_VERSION).toBe('2');
  });

  test('it opens and seals only what names its tenant and its connection (A96)', () => {
    const statements = allowed
      .filter(({ Action }) => /^kms:(Decrypt|GenerateDataKey)$/.test(listOf(Action)[0] ?? ''))
      .filter(({ Condition }) => equalsOf(Condition) === undefined);
    expect(statements).toHaveLength(4);
    for (const { Condition } of statements) {
      expect(Condition).toEqual({
        'ForAllValues:StringEquals': {
          'kms:EncryptionContextKeys': ['tenant_id', 'connection_id', 'purpose', 'v', 'forge'],
        },
        Null: {
          'kms:EncryptionContext:tenant_id': 'false',
          'kms:EncryptionContext:connection_id': 'false',
        },
      });
    }
  });

  test('each secret is read by its named functions', () => {
    const readers = allowed.flatMap(({ holder, Action, Resource }) =>
      listOf(Action).some((action) => action.startsWith('ssm:GetParameter'))
        ? listOf(Resource).map(
            (each) =>
              `${holder} ${listOf(Action)} ${/\["(\w+?)Parameter[0-9A-F]{8}"/.exec(JSON.stringify(each))?.[1]}`,
          )
        : [],
    );
    expect(readers.sort()).toEqual([
      'AdminRole ssm:GetParameter AdminKey',
      // Its private health check takes the container's stamp (D-74); the way to the engine it does not have.
      'AdminRole ssm:GetParameter EngineStamp',
      'BillingRole ssm:GetParameter PaymentsStoredKey',
      // AWS, "Amazon ECS task execution IAM role": the action in the plural, and no key where the parameter has the default one.
      'EngineTaskExecutionRole ssm:GetParameters EngineStamp',
      'WebhooksPaymentsRole ssm:GetParameter PaymentsStoredReadKey',
      'WebhooksPaymentsRole ssm:GetParameter PaymentsStoredWebhookSecret',
      'WorkerRole ssm:GetParameter EngineStamp',
    ]);
  });

  /**
   * AWS, "Using IAM policy conditions for fine-grained access control": `LeadingKeys` is the partition key, of the table or of
   * an index that the statement names (example 5), and asks for `ForAllValues`. `Scan` looks past it, so it is granted nowhere.
   * "Using IAM with DynamoDB transactions": each part of a transaction is governed by the right for its own action.
   */
  describe('on the table', () => {
    const ofTable = allowed.filter(
      ({ Action, Resource }) =>
        /^dynamodb:/.test(listOf(Action)[0] ?? '') && !/StreamArn/.test(JSON.stringify(Resource)),
    );
    const HOLDERS: Readonly<Partial<Record<BundleName, string>>> = {
      tick: 'TickRole',
      worker: 'WorkerRole',
      'wake-forward': 'WakeForwardRole',
      'webhooks-forge': 'WebhooksForgeRole',
      'webhooks-payments': 'WebhooksPaymentsRole',
      billing: 'BillingRole',
      public: 'PublicRole',
      api: 'ApiRole',
      connections: 'ConnectionsRole',
      evidence: 'EvidenceRole',
      advice: 'AdviceRole',
      'forge-ops': 'ForgeOpsRole',
      admin: 'AdminRole',
      'container-health': 'ContainerHealthRole',
      'socket-connect': 'RealtimeConnectRole',
      'socket-disconnect': 'RealtimeDisconnectRole',
      'socket-push': 'RealtimePushRole',
      notify: 'NotificationsNotifyRole',
      engine: 'EngineTaskTaskRole',
    };
    /** Each action with the beginnings of keys that it is for. */
    const granted = (holder: string): string[] =>
      ofTable
        .filter((each) => each.holder === holder)
        .flatMap(({ Action, Resource, Condition }) => {
          const index = /\/index\/(gsi\d)"/.exec(JSON.stringify(Resource))?.[1];
          const keys = (Condition as Conditions)['ForAllValues:StringLike']?.['dynamodb:LeadingKeys'] ?? [];
          return listOf(Action).flatMap((action) =>
            listOf(keys).map((key) => [action.slice(9), ...(index ? [index] : []), key].join(' ')),
          );
        })
        .sort();

    test('every grant names the beginnings of the keys that it is for', () => {
      expect(ofTable.length).toBeGreaterThan(40);
      for (const { holder, Condition } of ofTable) {
        const keys = (Condition as Conditions | undefined)?.['ForAllValues:StringLike']?.[
          'dynamodb:LeadingKeys'
        ];
        expect([holder, listOf(keys ?? []).length > 0]).toEqual([holder, true]);
        for (const key of listOf(keys ?? '')) expect(key).toMatch(/^[A-Z]+[A-Z#]*\*$/);
      }
    });

    test.each(Object.entries(HOLDERS))('%s has what table-access.ts says', (bundle, holder) => {
      const { indexes = [], attributes: _, ...rows } = TABLE_ACCESS[bundle as BundleName] ?? {};
      expect(granted(holder)).toEqual(
        [
          ...Object.entries(rows).flatMap(([action, partitions]) =>
            partitions.map((each) => `${action} ${PARTITIONS[each]}*`),
          ),
          ...indexes
            .map((each) => INDEX_PARTITIONS[each])
            .map(({ index, begin }) => `Query ${index} ${begin}*`),
        ].sort(),
      );
    });

    test('no other role has a right on it', () => {
      expect(new Set(ofTable.map(({ holder }) => holder))).toEqual(new Set(Object.values(HOLDERS)));
      expect(Object.keys(HOLDERS).sort()).toEqual(Object.keys(TABLE_ACCESS).sort());
    });

    test('what answers without a session reads nothing of a tenant: health, and since when batches wait', () => {
      expect(granted('PublicRole')).toEqual([
        'BatchGetItem TB#*',
        'GetItem G#HEALTH*',
        'Query gsi1 DUE#*',
        'Query gsi1 PHASE*',
        'Query gsi2 ALL#BATCH*',
        'Query gsi2 ALL#TENANT*',
        'UpdateItem RL#*',
        'UpdateItem TM#*',
      ]);
      const batches = ofTable.find(
        ({ holder, Action }) => holder === 'PublicRole' && listOf(Action).includes('dynamodb:BatchGetItem'),
      );
      expect(batches?.Condition).toEqual({
        'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['TB#*'] },
        'ForAllValues:StringEquals': { 'dynamodb:Attributes': ['pk', 'sk', 'phase_since'] },
        StringEqualsIfExists: { 'dynamodb:Select': 'SPECIFIC_ATTRIBUTES' },
      });
      const reads = ['ContainerHealthRole', 'RealtimeConnectRole', 'RealtimeDisconnectRole'].map((holder) =>
        granted(holder).filter((each) => /^(Get|BatchGet|Query)/.test(each)),
      );
      // Ids of open sockets, to count them.
      expect(reads).toEqual([[], ['Query TW#*'], []]);
    });

    test('no role may update an audit entry, and only what ends a tenant deletes them', () => {
      const ofAudit = Object.values(HOLDERS).flatMap((holder) =>
        granted(holder).flatMap((each) =>
          each.endsWith(' TA#*') ? [`${holder} ${each.split(' ')[0]}`] : [],
        ),
      );
      expect(ofAudit.filter((each) => !/ (Query|PutItem)$/.test(each)).sort()).toEqual([
        'BillingRole BatchWriteItem',
        'WorkerRole BatchWriteItem',
      ]);
    });

    test('no role may read, update or delete what is kept of tenants that have left; what ends one puts it', () => {
      const ofKept = Object.values(HOLDERS).flatMap((holder) =>
        granted(holder).flatMap((each) =>
          each.endsWith(' KA#*') ? [`${holder} ${each.split(' ')[0]}`] : [],
        ),
      );
      expect(ofKept.sort()).toEqual(['BillingRole PutItem', 'WorkerRole PutItem']);
    });

    test('what follows the changes of the table follows its stream, and no more', () => {
      const following = Object.entries(rightsOf('dynamodb')).filter(([, actions]) =>
        FOLLOW.every((action) => actions.includes(action)),
      );
      expect(following.map(([holder]) => holder).sort()).toEqual([
        'NotificationsNotifyRole',
        'RealtimePushRole',
      ]);
    });
  });

  test('indexes are named, never starred', () => {
    for (const { Resource } of allowed) expect(JSON.stringify(Resource)).not.toMatch(/index\/\*/);
  });

  test('each queue has its stated senders and takers', () => {
    expect(rightsOf('sqs')).toEqual({
      ApiRole: ['SendMessage'],
      // Wakes the queues of a tenant that leaves, so that they are wound down.
      BillingRole: ['SendMessage'],
      ForgeOpsRole: ['SendMessage'],
      NotificationsNotifyRole: ['SendMessage'],
      // Wakes that failed for good are written off by the tick.
      TickRole: ['DeleteMessage', 'ReceiveMessage', 'SendMessage'],
      WakeForwardRole: [...CONSUME, 'SendMessage'].sort(),
      WebhooksForgeRole: ['SendMessage', 'SendMessage'],
      WorkerRole: [...CONSUME, 'SendMessage', 'SendMessage'].sort(),
    });
  });

  test('the engine is woken and put to sleep by three, as one service', () => {
    const power = ['DescribeServices', 'UpdateService'];
    // Two of them call it, and so look where its tasks are.
    const find = [...power, 'DescribeTasks', 'ListTasks'].sort();
    expect(rightsOf('ecs')).toEqual({ ContainerHealthRole: find, TickRole: power, WorkerRole: find });
    const targets = allowed.filter(({ Action }) => listOf(Action).includes('ecs:UpdateService'));
    for (const { Resource } of targets) {
      expect(JSON.stringify(Resource)).toMatch(/^\{"Ref":"EngineService[0-9A-F]+"\}$/);
    }
  });

  /** AWS, "Identity-based policy examples for Amazon ECS": tasks are listed on any resource, under a condition of the cluster. */
  test('tasks are listed and looked at in the cluster of the engine alone', () => {
    const of = (action: string) => allowed.filter(({ Action }) => listOf(Action).includes(action));
    for (const { Resource, Condition } of of('ecs:ListTasks')) {
      expect(Resource).toBe('*');
      expect(JSON.stringify(Condition)).toMatch(
        /^\{"ArnEquals":\{"ecs:cluster":\{"Fn::GetAtt":\["EngineCluster[0-9A-F]+","Arn"\]\}\}\}$/,
      );
    }
    for (const { Resource } of of('ecs:DescribeTasks')) {
      expect(JSON.stringify(Resource)).toMatch(/:task\/",\{"Ref":"EngineCluster[0-9A-F]+"\},"\/\*"\]\]\}$/);
    }
    expect(of('ecs:ListTasks').length + of('ecs:DescribeTasks').length).toBe(4);
  });

  test.each([
    ['nothing is configured', {}, 'false', []],
    ['a sender is named: SES', { notificationFrom: 'queue@example.org' }, 'true', ['ses:SendEmail']],
    [
      'a provider is named: its key and nothing of SES',
      { notificationFrom: 'queue@example.org', emailApiUrl: 'https://mail.example.org' },
      'true',
      ['ssm:GetParameter'],
    ],
    [
      'a provider is named and the service has a domain: that is the sender',
      { ...DOMAIN, emailApiUrl: 'https://mail.example.org' },
      'true',
      ['ssm:GetParameter'],
    ],
  ])('mail: %s', (_name, context, sends, actions) => {
    const stack = readTemplate(context);
    const granted = stack
      .allowed()
      .filter(({ holder }) => holder === 'NotificationsNotifyRole')
      .flatMap(({ Action }) => listOf(Action))
      .filter((action) => /^(ses|ssm):/.test(action));
    expect(granted).toEqual(actions);
    expect(stack.functionNamed('DashboardSite').Properties.Environment.Variables.SENDS_MAIL).toBe(sends);
    const { NOTIFICATION_FROM: from } =
      stack.functionNamed('NotificationsNotify').Properties.Environment.Variables;
    expect(from === '').toBe(sends === 'false');
    if ('domainName' in context) expect(from).toBe('mergeyard@queue.example.org');
  });

  /** https://docs.aws.amazon.com/ses/latest/dg/managing-configuration-sets.html: an identity may have one that each mail uses. */
  test('mail goes from the one sender, also where its identity has a configuration set', () => {
    const stack = readTemplate({ notificationFrom: 'queue@example.org' });
    const [sends] = stack.allowed().filter(({ Action }) => listOf(Action).includes('ses:SendEmail'));
    const names = JSON.stringify(sends?.Resource).match(/:(?:identity|configuration-set)\/[^"]+/g);
    expect(names).toEqual([':identity/queue@example.org', ':identity/example.org', ':configuration-set/*']);
    expect(sends?.Condition).toEqual({ StringEquals: { 'ses:FromAddress': 'queue@example.org' } });
  });

  test('all other rights, function by function', () => {
    const known = /^(kms|dynamodb|sqs|ecs|logs|ssm):/;
    const others = allowed.flatMap(({ holder, Action }) =>
      listOf(Action)
        .filter((action) => !known.test(action))
        .map((action) => `${holder} ${action}`),
    );
    const network = [
      'AssignPrivateIpAddresses',
      'CreateNetworkInterface',
      'DeleteNetworkInterface',
      'DescribeNetworkInterfaces',
      'DescribeSubnets',
      'UnassignPrivateIpAddresses',
    ];
    expect(others.sort()).toEqual(
      [
        ...network.map((action) => `ContainerHealthRole ec2:${action}`),
        'NotificationsNotifyRole ses:SendEmail',
        'RealtimePushRole execute-api:ManageConnections',
        ...network.map((action) => `WorkerRole ec2:${action}`),
        'WorkerRole lambda:InvokeFunction',
        'WorkerRole lambda:InvokeFunction',
      ].sort(),
    );
  });

  test('the worker alone may invoke functions: the idle look, which may nothing but write its log, and the one that repairs a set-up', () => {
    const invokes = allowed.filter(({ Action }) => listOf(Action).includes('lambda:InvokeFunction'));
    const named = invokes.map(({ holder, Resource }) => [
      holder,
      JSON.stringify(Resource).match(/^\{"Fn::GetAtt":\["(\w+)Function[0-9A-F]{8}","Arn"\]\}$/)?.[1],
    ]);
    expect(named).toEqual([
      ['WorkerRole', 'IdleLook'],
      ['WorkerRole', 'ForgeOps'],
    ]);
    const held = allowed.filter(({ holder }) => holder === 'IdleLookRole').flatMap(({ Action }) => Action);
    expect(held).toEqual(['logs:CreateLogStream', 'logs:PutLogEvents']);
  });

  test.each([
    ['by digest', '@sha256:abc'],
    ['by tag', ':1.2.3'],
  ])(
    'a prebuilt image of a private registry %s is pulled with a right to that repository alone',
    (_way, version) => {
      const image = `123456789012.dkr.ecr.eu-west-1.amazonaws.com/team/engine${version}`;
      const stack = readTemplate({ engineImage: image });
      const pulls = stack
        .allowed()
        .filter(({ Action }) => listOf(Action).includes('ecr:BatchGetImage'))
        .map(({ holder, Resource }) => [holder, JSON.stringify(Resource)]);
      expect(pulls).toEqual([
        [
          'EngineTaskExecutionRole',
          expect.stringMatching(/:ecr:eu-west-1:123456789012:repository\/team\/engine"/),
        ],
      ]);
      const [container] = stack.only('AWS::ECS::TaskDefinition').Properties.ContainerDefinitions;
      const text = JSON.stringify(container.Image);
      expect(text).toContain(`/team/engine${version}`);
      expect(text).toContain('123456789012.dkr.ecr.eu-west-1.');
    },
  );

  test('the engine has the table and nothing else (D-94)', () => {
    const held = allowed
      .filter(({ holder }) => holder === 'EngineTaskTaskRole')
      .flatMap(({ Action }) => listOf(Action));
    expect(new Set(held.map((action) => action.split(':')[0]))).toEqual(new Set(['dynamodb']));
  });
});
