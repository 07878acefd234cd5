import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Past, synthesize } from '../support/synthesize.ts';
import { findTool, type OutsideTool } from './outside-tool.ts';

/** Every rule of cfn-lint that is not followed, with the reason. */
const IGNORED_RULES: readonly { readonly rule: string; readonly reason: string }[] = [
  {
    rule: 'W3005',
    reason:
      'A function names its role and depends on it as well: the CDK writes both, because the policies of the role hang on the second.',
  },
  { rule: 'I1022', reason: 'Style alone: the CDK writes Fn::Join where a person would write Fn::Sub.' },
];

/** Deployments that together hold every resource that the configuration can ask for. */
const DEPLOYMENTS: readonly {
  readonly name: string;
  readonly context: Readonly<Record<string, string>>;
  readonly past?: Past;
}[] = [
  { name: 'dev', context: {} },
  {
    name: 'prod',
    context: {
      stage: 'prod',
      alarmEmail: 'ops@example.org',
      adminEmail: 'ada@example.org',
      waf: 'true',
      domainName: 'queue.example.org',
      certificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/12345678-1234-1234-1234-123456789012',
      hostedZoneId: 'Z0123456789ABCDEFGHIJ',
      monthlyBudgetUsd: '40',
      owner: 'queue team',
      notificationFrom: 'queue@example.org',
      emailApiUrl: 'https://api.resend.com',
      paymentsPrices: 'pro.flat=price_1,team.flat=price_2',
      legacyCredentials: 'true',
      engineCpu: '1024',
      engineMemoryMb: '2048',
      engineTasks: '3',
      workersMax: '1000',
      queueMetrics: 'true',
      keyVersion: '2',
    },
    past: { movesSecrets: true },
  },
  {
    name: 'own-provider-and-network',
    context: {
      identityUrl: 'https://id.example.org',
      notificationFrom: 'queue@example.org',
      vpcId: 'vpc-0123456789abcdef0',
      forgeAllowHosts: 'git.internal.example',
      vpcSubnetIds: 'subnet-0123456789abcdef0,subnet-0123456789abcdef1',
      engineImage: `123456789012.dkr.ecr.eu-west-1.amazonaws.com/mergeyard@sha256:${'0'.repeat(64)}`,
    },
  },
];

const CFN_LINT: OutsideTool = {
  name: 'cfn-lint',
  command: process.env.CFN_LINT_PATH ?? 'cfn-lint',
  atLeast: '1.58.0',
  hint: 'install it (`pip install cfn-lint`, Python 3.10 or later) or set CFN_LINT_PATH',
};

/** Lints the templates of all deployments above. Answers with the exit code of the process. */
function main(): number {
  const found = findTool(CFN_LINT);
  if ('skipped' in found) {
    console.log(found.skipped);
    return 0;
  }
  console.log(`cfn-lint ${found.version}, region us-east-1`);
  for (const { rule, reason } of IGNORED_RULES) console.log(`ignored: ${rule}. ${reason}`);
  const folder = mkdtempSync(join(tmpdir(), 'mergeyard-templates-'));
  try {
    const codes = DEPLOYMENTS.map(({ name, context, past }) => {
      const template = synthesize(context, past).template.toJSON();
      const file = join(folder, `${name}.template.json`);
      writeFileSync(file, JSON.stringify(template, null, 1));
      const rules = IGNORED_RULES.flatMap(({ rule }) => ['--ignore-checks', rule]);
      const args = ['--template', file, '--include-checks', 'I', '--regions', 'us-east-1', ...rules];
      const linted = spawnSync(CFN_LINT.command, args, {
        encoding: 'utf8',
        stdio: ['ignore', 'inherit', 'inherit'],
      });
      const resources = Object.keys(template.Resources ?? {}).length;
      console.log(`${name}: ${resources} resources, ${linted.status === 0 ? 'clean' : 'findings above'}`);
      return linted.status;
    });
    const clean = codes.filter((code) => code === 0).length;
    console.log(`${clean} of ${codes.length} templates are clean`);
    return clean === codes.length ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

process.exitCode = main();
