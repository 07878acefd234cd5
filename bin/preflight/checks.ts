import { ACMClient, DescribeCertificateCommand } from '@aws-sdk/client-acm';
import { CloudFrontClient, ListDistributionsCommand } from '@aws-sdk/client-cloudfront';
import {
  DescribeAvailabilityZonesCommand,
  DescribeSubnetsCommand,
  DescribeVpcsCommand,
  EC2Client,
} from '@aws-sdk/client-ec2';
import { GetRoleCommand, IAMClient } from '@aws-sdk/client-iam';
import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { GetServiceQuotaCommand, ServiceQuotasClient } from '@aws-sdk/client-service-quotas';
import { GetAccountCommand, GetEmailIdentityCommand, SESv2Client } from '@aws-sdk/client-sesv2';
import { GetParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import type { StageConfig } from '../../lib/stage-config.ts';

/** The input of a check. */
export interface Place {
  readonly config: StageConfig;
  readonly account: string;
  readonly region: string;
  readonly stackName: string;
  /** No deployment of this stage is on record. */
  readonly isFirst: boolean;
  /** Whether a program of this name answers `version`. */
  readonly runs: (program: string) => boolean;
}

export interface Finding {
  /** `stop`: the deployment would fail, or no queue could work in it. `note`: it succeeds, and something of it does not work. */
  readonly level: 'ok' | 'note' | 'stop';
  readonly says: string;
  /** The cure; absent where none is needed. */
  readonly fix?: string;
}

export interface Check {
  readonly what: string;
  /** The right that it needs. */
  readonly needs: string;
  readonly run: (place: Place) => Promise<Finding>;
}

/** Distributions and their certificates are kept in one region (AWS, "Requirements for using certificates with CloudFront"). */
const EDGE_REGION = 'us-east-1';
/** The bootstrap version that templates of the pinned construct library ask for (`CheckBootstrapVersion` in each). */
const BOOTSTRAP_VERSION_MIN = 6;
/** Beside workers and idle looks: the API, webhooks, the socket, the tick. */
const OTHER_EXECUTIONS = 20;
/** A worker and its look take half, the rest is for all others. */
const EXECUTIONS_SHARED_BY = 4;
/** As few as an event source of a queue takes. */
const WORKERS_MIN = 2;
const QUOTAS = {
  lambda: 'L-B99A9384',
  fargate: 'L-3032A538',
  vpcs: 'L-F678F1CE',
  distributions: 'L-24B04930',
} as const;

const ok = (says: string): Finding => ({ level: 'ok', says });
const note = (says: string, fix: string): Finding => ({ level: 'note', says, fix });
const stop = (says: string, fix: string): Finding => ({ level: 'stop', says, fix });

/** Whether a call failed with one of these faults. */
function isFault(error: unknown, ...names: readonly string[]): boolean {
  return error instanceof Error && names.includes(error.name);
}

async function orNull<T>(call: Promise<T>, ...absent: readonly string[]): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (isFault(error, ...absent)) return null;
    throw error;
  }
}

async function readQuota(service: string, code: string, region: string): Promise<number | null> {
  const client = new ServiceQuotasClient({ region });
  const call = client.send(new GetServiceQuotaCommand({ ServiceCode: service, QuotaCode: code }));
  return (await orNull(call, 'NoSuchResourceException'))?.Quota?.Value ?? null;
}

const raise = (service: string, code: string, region: string, to: number): string =>
  `aws service-quotas request-service-quota-increase --region ${region} --service-code ${service} --quota-code ${code} --desired-value ${to}`;

/** AWS, "Bootstrapping your environment for use with the AWS CDK". */
const bootstrap: Check = {
  what: 'bootstrap',
  needs: 'ssm:GetParameter',
  run: async ({ account, region }) => {
    const name = '/cdk-bootstrap/hnb659fds/version';
    const fix = `npx cdk bootstrap aws://${account}/${region}`;
    const call = new SSMClient({ region }).send(new GetParameterCommand({ Name: name }));
    const version = (await orNull(call, 'ParameterNotFound'))?.Parameter?.Value;
    if (version === undefined) return stop('this account and region were never bootstrapped', fix);
    if (Number(version) < BOOTSTRAP_VERSION_MIN)
      return stop(`version ${version} is older than ${BOOTSTRAP_VERSION_MIN}`, fix);
    return ok(`version ${version}`);
  },
};

/** AWS, "Using service-linked roles for Amazon ECS": a cluster that is made before the role is there can fail once. */
const serviceLinkedRole: Check = {
  what: 'service-linked role of ECS',
  needs: 'iam:GetRole',
  run: async ({ region }) => {
    const call = new IAMClient({ region }).send(new GetRoleCommand({ RoleName: 'AWSServiceRoleForECS' }));
    const role = await orNull(call, 'NoSuchEntityException', 'NoSuchEntity');
    return role === null
      ? stop('is not there', 'aws iam create-service-linked-role --aws-service-name ecs.amazonaws.com')
      : ok('is there');
  },
};

/** AWS, "Lambda quotas": accounts begin with less than the 1,000 that are named there. */
const lambdaConcurrency: Check = {
  what: 'functions at once',
  needs: 'lambda:GetAccountSettings',
  run: async ({ config, region }) => {
    const { AccountLimit } = await new LambdaClient({ region }).send(new GetAccountSettingsCommand({}));
    const allowed = AccountLimit?.UnreservedConcurrentExecutions ?? AccountLimit?.ConcurrentExecutions ?? 0;
    // Each worker may wait for an idle look.
    const looking = 2 * config.workersMax;
    const needed = looking + OTHER_EXECUTIONS;
    if (allowed >= needed) return ok(`${allowed}, of which ${needed} are needed`);
    const fewer = Math.floor(allowed / EXECUTIONS_SHARED_BY);
    const fix = `${raise('lambda', QUOTAS.lambda, region, 1000)}, or ${fewer < WORKERS_MIN ? 'another region' : `workersMax=${fewer}`}`;
    const says = `${allowed}, and workersMax=${config.workersMax} needs ${needed}`;
    return allowed < looking
      ? stop(`${says}: workers take all of them, and looks, the tick and the API are refused`, fix)
      : note(`${says}: looks are late while others run`, fix);
  },
};

/** AWS, "Amazon ECS endpoints and quotas": Fargate On-Demand vCPU resource count. */
const fargate: Check = {
  what: 'CPUs of Fargate',
  needs: 'servicequotas:GetServiceQuota',
  run: async ({ config, region }) => {
    // A deployment runs old and new tasks side by side.
    const needed = (2 * config.engineSize.tasks * config.engineSize.cpu) / 1024;
    const allowed = await readQuota('fargate', QUOTAS.fargate, region);
    if (allowed === null) return note('the quota is not known', 'look at Service Quotas, AWS Fargate');
    if (allowed >= needed) return ok(`${allowed}, of which ${needed} are needed`);
    return stop(
      `${allowed}, and ${needed} are needed`,
      raise('fargate', QUOTAS.fargate, region, Math.ceil(needed)),
    );
  },
};

/** AWS, "Amazon VPC quotas": VPCs per region. The engine takes no elastic address: its own is a task's public address. */
const networks: Check = {
  what: 'networks of the region',
  needs: 'ec2:DescribeVpcs, servicequotas:GetServiceQuota',
  run: async ({ config, region, isFirst }) => {
    if (config.network.own !== undefined) return ok('none is made: you chose your own');
    if (!isFirst) return ok('the stack has its own');
    const { Vpcs = [] } = await new EC2Client({ region }).send(new DescribeVpcsCommand({}));
    const allowed = (await readQuota('vpc', QUOTAS.vpcs, region)) ?? 5;
    if (Vpcs.length < allowed) return ok(`${Vpcs.length} of ${allowed} are used`);
    return stop(`all ${allowed} are used`, raise('vpc', QUOTAS.vpcs, region, allowed + 5));
  },
};

/**
 * Ids of zones in which no engine can run: AWS, "Working with 64-bit ARM workloads on Amazon ECS" (US East), and "Supported Regions
 * for Amazon ECS on AWS Fargate" (the others). Names of zones differ from account to account, ids do not.
 */
const ZONES_WITHOUT_ENGINE: ReadonlySet<string | undefined> = new Set(['use1-az3', 'usw1-az2', 'apne1-az3']);

interface Zone {
  readonly name: string;
  readonly id: string | undefined;
}

/** All zones, and those that CloudFormation would choose from, in its order (AWS, "Fn::GetAZs"). */
async function listZones(
  ec2: EC2Client,
): Promise<{ readonly all: readonly Zone[]; readonly usual: readonly Zone[] }> {
  const { AvailabilityZones = [] } = await ec2.send(new DescribeAvailabilityZonesCommand({}));
  const { Subnets = [] } = await ec2.send(
    new DescribeSubnetsCommand({ Filters: [{ Name: 'default-for-az', Values: ['true'] }] }),
  );
  const all = AvailabilityZones.filter(({ ZoneType }) => ZoneType === 'availability-zone')
    .map(({ ZoneName = '', ZoneId }) => ({ name: ZoneName, id: ZoneId }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const usual = all.filter(({ name }) => Subnets.some((subnet) => subnet.AvailabilityZone === name));
  return { all, usual: usual.length > 0 ? usual : all };
}

const zones: Check = {
  what: 'zones of the network',
  needs: 'ec2:DescribeAvailabilityZones, ec2:DescribeSubnets',
  run: async ({ config, region, isFirst }) => {
    if (config.network.own !== undefined) return ok('you chose them with your subnets');
    if (!isFirst) return ok('the stack has its own');
    const { all, usual } = await listZones(new EC2Client({ region }));
    const names = config.network.zones ?? usual.slice(0, 2).map(({ name }) => name);
    const good = all.filter(({ id }) => !ZONES_WITHOUT_ENGINE.has(id)).map(({ name }) => name);
    const bad = names.filter((name) => !good.includes(name));
    if (bad.length === 0 && names.length === 2) return ok(names.join(', '));
    return stop(
      bad.length > 0
        ? `the engine cannot run in ${bad.join(', ')}`
        : `only ${names.join(', ')} has a default subnet, and the network takes two zones`,
      good.length < 2
        ? 'deploy to another region: this account has no two zones here in which the engine can run'
        : `in the file of the stage: "vpcZones": "${good.slice(0, 2).join()}"`,
    );
  },
};

/** AWS, "CloudFront quotas": distributions per account. */
const distributions: Check = {
  what: 'distributions',
  needs: 'cloudfront:ListDistributions, servicequotas:GetServiceQuota',
  run: async ({ isFirst }) => {
    if (!isFirst) return ok('the stack has its own');
    const listed = await new CloudFrontClient({ region: EDGE_REGION }).send(new ListDistributionsCommand({}));
    const used = listed.DistributionList?.Quantity ?? 0;
    const allowed = (await readQuota('cloudfront', QUOTAS.distributions, EDGE_REGION)) ?? 200;
    if (used < allowed) return ok(`${used} of ${allowed} are used`);
    return stop(
      `all ${allowed} are used`,
      raise('cloudfront', QUOTAS.distributions, EDGE_REGION, allowed + 50),
    );
  },
};

/** AWS, "Verified identities in Amazon SES" and "Request production access". */
const mail: Check = {
  what: 'mail',
  needs: 'ses:GetEmailIdentity, ses:GetAccount',
  run: async ({ config, region }) => {
    const { from, apiUrl } = config.mail;
    if (from === undefined) return note('no mail is sent', 'name a sender with notificationFrom');
    if (apiUrl !== undefined) return ok(`${from} by ${new URL(apiUrl).host}`);
    const ses = new SESv2Client({ region });
    for (const EmailIdentity of [from, from.slice(from.lastIndexOf('@') + 1)]) {
      const call = ses.send(new GetEmailIdentityCommand({ EmailIdentity }));
      const found = await orNull(call, 'NotFoundException');
      if (found?.VerifiedForSendingStatus !== true) continue;
      const { ProductionAccessEnabled } = await ses.send(new GetAccountCommand({}));
      if (ProductionAccessEnabled === true) return ok(`${EmailIdentity} is verified`);
      return note(
        `${EmailIdentity} is verified, and SES sends to verified addresses alone`,
        'aws sesv2 put-account-details --production-access-enabled …, or in the console: Request production access',
      );
    }
    return note(
      `${from} is not verified`,
      `aws sesv2 create-email-identity --region ${region} --email-identity ${from}`,
    );
  },
};

/** AWS CDK, "CDK_DOCKER". */
const image: Check = {
  what: 'image of the engine',
  needs: 'nothing',
  run: async ({ config, runs }) => {
    if (config.engineImage !== undefined) {
      return config.engineImage.includes('@sha256:')
        ? ok(config.engineImage)
        : note(`${config.engineImage} can change under its name`, 'name it by its digest: …@sha256:…');
    }
    const program = process.env.CDK_DOCKER ?? 'docker';
    return runs(program)
      ? ok(`is built with ${program}`)
      : stop(
          `${program} does not answer, and the image is built with it`,
          'start it, set CDK_DOCKER=finch or CDK_DOCKER=podman, or name a prebuilt one with engineImage',
        );
  },
};

/** AWS, "Requirements for using SSL/TLS certificates with CloudFront". */
const certificate: Check = {
  what: 'certificate',
  needs: 'acm:DescribeCertificate',
  run: async ({ config: { domain } }) => {
    if (domain === undefined) return ok('of the distribution itself');
    const fix = `aws acm request-certificate --region ${EDGE_REGION} --validation-method DNS --domain-name ${domain.name}`;
    const call = new ACMClient({ region: EDGE_REGION }).send(
      new DescribeCertificateCommand({ CertificateArn: domain.certificateArn }),
    );
    const found = (await orNull(call, 'ResourceNotFoundException'))?.Certificate;
    if (found === undefined) return stop(`${domain.certificateArn} is not there`, fix);
    if (found.Status !== 'ISSUED')
      return stop(
        `it is ${found.Status}`,
        'add the DNS record that ACM asks for, and wait until it is issued',
      );
    const names = found.SubjectAlternativeNames ?? [];
    const parent = `*.${domain.name.slice(domain.name.indexOf('.') + 1)}`;
    return names.includes(domain.name) || names.includes(parent)
      ? ok(`is issued for ${domain.name}`)
      : stop(`is for ${names.join(', ')}, not for ${domain.name}`, fix);
  },
};

/** Parameters whose values an operator stores; the stack makes each with random text in it. */
const parameters: Check = {
  what: 'secrets',
  needs: 'ssm:GetParameter',
  run: async ({ config, region, stackName, isFirst }) => {
    const names = [
      ...(config.mail.apiUrl === undefined ? [] : ['email-api-key']),
      ...(config.paymentsPrices === ''
        ? []
        : ['payments-key', 'payments-read-key', 'payments-webhook-secret']),
      ...(config.legacyCredentials ? ['legacy-credential-key'] : []),
    ].map((name) => `/${stackName}/${name}`);
    if (names.length === 0) return ok('all are made by the stack');
    const fix = `after the deployment: aws ssm put-parameter --overwrite --type SecureString --region ${region} --value file://… --name …`;
    if (isFirst) return note(`the stack makes ${names.join(', ')} with random text`, fix);
    const ssm = new SSMClient({ region });
    const unset: string[] = [];
    for (const name of names) {
      // Without its value: the first version is the random text.
      const found = await orNull(ssm.send(new GetParameterCommand({ Name: name })), 'ParameterNotFound');
      if ((found?.Parameter?.Version ?? 1) < 2) unset.push(name);
    }
    return unset.length === 0
      ? ok('all are stored')
      : note(`no value was stored in ${unset.join(', ')}`, fix);
  },
};

export const CHECKS: readonly Check[] = [
  bootstrap,
  serviceLinkedRole,
  lambdaConcurrency,
  fargate,
  networks,
  zones,
  distributions,
  mail,
  image,
  certificate,
  parameters,
];
