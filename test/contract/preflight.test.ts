import type { IncomingMessage } from 'node:http';
import { findPlace, NEEDS_CREDENTIALS, renderResult, runChecks } from '../../bin/preflight/account.ts';
import { CHECKS, type Finding, type Place } from '../../bin/preflight/checks.ts';
import { parseStageConfig } from '../../lib/stage-config.ts';
import type { Emulator } from '../../local/emulators/dynamo.ts';
import { startOnLoopback } from '../../local/emulators/loopback.ts';
import { FULL } from '../support/template.ts';

/** Answers of AWS by what was asked: an action of JSON or query APIs, or method and path of REST ones. */
type Answers = Readonly<Record<string, readonly [status: number, body: string]>>;

const json = (body: unknown, status = 200): readonly [number, string] => [status, JSON.stringify(body)];
const fault = (name: string): readonly [number, string] => json({ __type: name, message: name }, 400);
const quota = (value: number) => json({ Quota: { Value: value } });

const ROLE =
  '<GetRoleResponse><GetRoleResult><Role><RoleName>AWSServiceRoleForECS</RoleName></Role></GetRoleResult></GetRoleResponse>';
const NO_ROLE =
  '<ErrorResponse><Error><Code>NoSuchEntity</Code><Message>no</Message></Error></ErrorResponse>';
const vpcs = (count: number): string =>
  `<DescribeVpcsResponse><vpcSet>${'<item><vpcId>vpc-1</vpcId></item>'.repeat(count)}</vpcSet></DescribeVpcsResponse>`;
/** Zones a to d, with default subnets in these. */
const zones = (ids: readonly string[]): string =>
  `<DescribeAvailabilityZonesResponse><availabilityZoneInfo>${ids
    .map(
      (id, at) =>
        `<item><zoneName>eu-west-1${'abcd'[at]}</zoneName><zoneId>${id}</zoneId><zoneType>availability-zone</zoneType></item>`,
    )
    .join('')}</availabilityZoneInfo></DescribeAvailabilityZonesResponse>`;
const subnetsIn = (letters: string): string =>
  `<DescribeSubnetsResponse><subnetSet>${[...letters]
    .map((letter) => `<item><availabilityZone>eu-west-1${letter}</availabilityZone></item>`)
    .join('')}</subnetSet></DescribeSubnetsResponse>`;
const listed = (count: number): string =>
  `<DistributionList><Marker></Marker><MaxItems>100</MaxItems><IsTruncated>false</IsTruncated><Quantity>${count}</Quantity></DistributionList>`;

/** An account in which everything is as it should be. */
const GOOD: Answers = {
  'GetParameter /cdk-bootstrap/hnb659fds/version': json({ Parameter: { Value: '21', Version: 3 } }),
  GetRole: [200, ROLE],
  'GET /2016-08-19/account-settings': json({ AccountLimit: { ConcurrentExecutions: 1000 } }),
  'GetServiceQuota L-3032A538': quota(6),
  'GetServiceQuota L-F678F1CE': quota(5),
  'GetServiceQuota L-24B04930': quota(200),
  DescribeVpcs: [200, vpcs(1)],
  DescribeAvailabilityZones: [200, zones(['euw1-az1', 'euw1-az2', 'euw1-az3'])],
  DescribeSubnets: [200, subnetsIn('abc')],
  'GET /2020-05-31/distribution': [200, listed(3)],
  'GET /v2/email/identities/queue%40example.org': json({}, 404),
  'GET /v2/email/identities/example.org': json({ VerifiedForSendingStatus: true }),
  'GET /v2/email/account': json({ ProductionAccessEnabled: true }),
  DescribeCertificate: json({
    Certificate: { Status: 'ISSUED', SubjectAlternativeNames: ['*.example.org'] },
  }),
  'GetParameter /Mergeyard-prod/payments-key': json({ Parameter: { Version: 2 } }),
  'GetParameter /Mergeyard-prod/payments-read-key': json({ Parameter: { Version: 2 } }),
  'GetParameter /Mergeyard-prod/payments-webhook-secret': json({ Parameter: { Version: 5 } }),
};
const SERVICES = ['ACM', 'CLOUDFRONT', 'EC2', 'IAM', 'LAMBDA', 'SERVICE_QUOTAS', 'SESV2', 'SSM', 'STS'];

let answers: Answers = GOOD;
let aws: Emulator;
const before = { ...process.env };

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

/** The name of what is asked, as `Answers` has it. */
function nameOf(request: IncomingMessage, body: string): string {
  const target = String(request.headers['x-amz-target'] ?? '')
    .split('.')
    .at(-1);
  if (target !== undefined && target !== '') {
    const { Name, QuotaCode } = JSON.parse(body);
    return [target, Name ?? QuotaCode].filter(Boolean).join(' ');
  }
  const action = new URLSearchParams(body).get('Action');
  if (action !== null) return action;
  return `${request.method} ${new URL(request.url ?? '/', 'http://x').pathname.replace(/\/$/, '')}`;
}

beforeAll(async () => {
  aws = await startOnLoopback(async (request, response) => {
    const [status, body] =
      answers[nameOf(request, await readBody(request))] ?? fault('AccessDeniedException');
    response.writeHead(status, status === 404 ? { 'x-amzn-errortype': 'NotFoundException' } : {});
    response.end(body);
  });
  Object.assign(process.env, {
    AWS_REGION: 'eu-west-1',
    AWS_ACCESS_KEY_ID: 'id',
    AWS_SECRET_ACCESS_KEY: 'key',
  });
  for (const service of SERVICES) process.env[`AWS_ENDPOINT_URL_${service}`] = aws.endpoint;
});
afterAll(async () => {
  process.env = before;
  await aws.stop();
});
beforeEach(() => {
  answers = GOOD;
});

const { waf: _, engineImage: __, ...PROD } = FULL;
function place(context: Readonly<Record<string, string>> = {}, more: Partial<Place> = {}): Place {
  const config = parseStageConfig({ ...PROD, ...context });
  const at = { account: '123456789012', region: 'eu-west-1', stackName: 'Mergeyard-prod' };
  return { config, ...at, isFirst: false, runs: () => true, ...more };
}

async function find(
  what: string,
  at: Place,
  changed: Answers = {},
): Promise<Finding | { level: string; says: string; fix?: string }> {
  answers = { ...GOOD, ...changed };
  const check = CHECKS.filter((each) => each.what === what);
  const [result] = await runChecks(at, check);
  if (result === undefined) throw new Error(`no check ${what}`);
  return result.finding;
}

describe('what is looked at before the first deployment', () => {
  test('an account that is ready has nothing in the way', async () => {
    for (const isFirst of [true, false]) {
      const results = await runChecks(place({}, { isFirst }));
      const bad = results.filter(({ finding }) => finding.level === 'stop' || finding.level === 'unknown');
      expect(bad).toEqual([]);
      expect(results).toHaveLength(CHECKS.length);
    }
  });

  test.each<[string, string, Answers, Partial<Place>, string, RegExp]>([
    [
      'was never bootstrapped',
      'bootstrap',
      { 'GetParameter /cdk-bootstrap/hnb659fds/version': fault('ParameterNotFound') },
      {},
      'stop',
      /npx cdk bootstrap aws:\/\/123456789012\/eu-west-1/,
    ],
    [
      'was bootstrapped long ago',
      'bootstrap',
      { 'GetParameter /cdk-bootstrap/hnb659fds/version': json({ Parameter: { Value: '5' } }) },
      {},
      'stop',
      /cdk bootstrap/,
    ],
    [
      'has no role of ECS',
      'service-linked role of ECS',
      { GetRole: [404, NO_ROLE] },
      {},
      'stop',
      /create-service-linked-role/,
    ],
    [
      'is new and runs ten functions at once',
      'functions at once',
      { 'GET /2016-08-19/account-settings': json({ AccountLimit: { ConcurrentExecutions: 10 } }) },
      {},
      'stop',
      /L-B99A9384 .*, or workersMax=2$/,
    ],
    [
      'runs enough functions at once for workers and their looks, and few others',
      'functions at once',
      { 'GET /2016-08-19/account-settings': json({ AccountLimit: { ConcurrentExecutions: 50 } }) },
      {},
      'note',
      /L-B99A9384/,
    ],
    [
      'may run no task',
      'CPUs of Fargate',
      { 'GetServiceQuota L-3032A538': quota(0) },
      {},
      'stop',
      /L-3032A538 --desired-value 1/,
    ],
    [
      'has no network left',
      'networks of the region',
      { DescribeVpcs: [200, vpcs(5)] },
      { isFirst: true },
      'stop',
      /L-F678F1CE --desired-value 10/,
    ],
    [
      'has a zone without ARM among its first two',
      'zones of the network',
      { DescribeAvailabilityZones: [200, zones(['use1-az2', 'use1-az3', 'use1-az1', 'use1-az4'])] },
      { isFirst: true },
      'stop',
      /"vpcZones": "eu-west-1a,eu-west-1c"/,
    ],
    [
      'has no distribution left',
      'distributions',
      { 'GET /2020-05-31/distribution': [200, listed(200)] },
      { isFirst: true },
      'stop',
      /L-24B04930/,
    ],
    [
      'has not verified the sender',
      'mail',
      { 'GET /v2/email/identities/example.org': json({ VerifiedForSendingStatus: false }) },
      {},
      'note',
      /create-email-identity.*queue@example.org/,
    ],
    [
      'may write to verified addresses alone',
      'mail',
      { 'GET /v2/email/account': json({ ProductionAccessEnabled: false }) },
      {},
      'note',
      /production access/i,
    ],
    [
      'has a certificate that waits',
      'certificate',
      { DescribeCertificate: json({ Certificate: { Status: 'PENDING_VALIDATION' } }) },
      {},
      'stop',
      /DNS record/,
    ],
    [
      'has a certificate of another name',
      'certificate',
      {
        DescribeCertificate: json({ Certificate: { Status: 'ISSUED', SubjectAlternativeNames: ['x.org'] } }),
      },
      {},
      'stop',
      /request-certificate.*queue.example.org/,
    ],
    [
      'has a payment key that was never stored',
      'secrets',
      { 'GetParameter /Mergeyard-prod/payments-key': json({ Parameter: { Version: 1 } }) },
      {},
      'note',
      /put-parameter/,
    ],
    ['has no Docker', 'image of the engine', {}, { runs: () => false }, 'stop', /CDK_DOCKER/],
  ])('an account that %s: found, with the fix', async (_case, what, changed, more, level, fix) => {
    expect(await find(what, place({}, more), changed)).toMatchObject({
      level,
      fix: expect.stringMatching(fix),
    });
  });

  test('zones are those that CloudFormation would take, or those that the file names', async () => {
    const one = { DescribeAvailabilityZones: [200, zones(['use1-az3', 'use1-az1', 'use1-az2'])] } as const;
    const at = (context = {}) => place(context, { isFirst: true });
    expect((await find('zones of the network', at(), one)).says).toBe('the engine cannot run in eu-west-1a');
    // Without a default subnet in it, it is not among the first.
    const without = { ...one, DescribeSubnets: [200, subnetsIn('bc')] } as const;
    expect(await find('zones of the network', at(), without)).toEqual({
      level: 'ok',
      says: 'eu-west-1b, eu-west-1c',
    });
    const named = at({ vpcZones: 'eu-west-1b,eu-west-1c' });
    expect(await find('zones of the network', named, one)).toMatchObject({ level: 'ok' });
    // A zone that is named needs no default subnet.
    expect(
      await find('zones of the network', named, { ...one, DescribeSubnets: [200, subnetsIn('a')] }),
    ).toMatchObject({ level: 'ok' });
    const single = { ...one, DescribeSubnets: [200, subnetsIn('b')] } as const;
    expect(await find('zones of the network', at(), single)).toMatchObject({
      level: 'stop',
      says: 'only eu-west-1b has a default subnet, and the network takes two zones',
    });
    const poor = { DescribeAvailabilityZones: [200, zones(['use1-az3', 'use1-az1'])] } as const;
    expect((await find('zones of the network', at(), poor)).fix).toMatch(/^deploy to another region/);
    const unknown = at({ vpcZones: 'eu-west-1b,eu-west-1x' });
    expect(await find('zones of the network', unknown, one)).toMatchObject({ level: 'stop' });
  });

  test('a network of the operator takes no place among those of the region', async () => {
    const own = { vpcId: 'vpc-0123456789abcdef0', vpcSubnetIds: 'subnet-0123456789,subnet-9876543210' };
    const full = { DescribeVpcs: [200, vpcs(5)] } as const;
    for (const isFirst of [true, false]) {
      const at = place({ vpcCidr: '', ...own }, { isFirst });
      expect(await find('networks of the region', at, full)).toEqual({
        level: 'ok',
        says: 'none is made: you chose your own',
      });
    }
  });

  test('a prebuilt image needs no Docker, and is best named by its digest', async () => {
    const without = { runs: () => false };
    const at = (engineImage: string) => place({ engineImage }, without);
    expect(await find('image of the engine', at('r.example/e@sha256:a'))).toMatchObject({ level: 'ok' });
    expect(await find('image of the engine', at('r.example/e:1'))).toMatchObject({ level: 'note' });
  });

  test('what the account does not let us see is not called good, and names the right', async () => {
    answers = {};
    const results = await runChecks(place({}, { isFirst: true }));
    const unknown = results.filter(({ finding }) => finding.level === 'unknown');
    expect(unknown.map(renderResult).join('\n')).toMatch(
      /\?.*bootstrap: could not be looked at: AccessDeniedException\n.*ssm:GetParameter/,
    );
    expect(unknown).toHaveLength(CHECKS.length - 2);
  });

  test('without credentials it says in one sentence what it needs', async () => {
    const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } = process.env;
    delete process.env.AWS_ACCESS_KEY_ID;
    delete process.env.AWS_SECRET_ACCESS_KEY;
    const nowhere = {
      AWS_EC2_METADATA_DISABLED: 'true',
      AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
      AWS_CONFIG_FILE: '/dev/null',
    };
    Object.assign(process.env, nowhere);
    try {
      expect(await findPlace()).toBeNull();
    } finally {
      Object.assign(process.env, { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY });
    }
    expect(NEEDS_CREDENTIALS.match(/\. /g)).toBeNull();
  });
});
