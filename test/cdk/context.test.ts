import { readFileSync } from 'node:fs';
import { parseStageConfig } from '../../lib/stage-config.ts';

const parse = (context: Readonly<Record<string, string>>) => () => parseStageConfig(context);
const CERTIFICATE = 'arn:aws:acm:us-east-1:123456789012:certificate/abc';

describe('context', () => {
  test.each<readonly [Readonly<Record<string, string>>, string]>([
    [{ stage: 'staging' }, '-c stage=staging: must be one of: dev, prod'],
    [{ serviceName: 'MQ!' }, '-c serviceName=MQ!: must be 1 to 20 of a-z, 0-9 and -'],
    [{ runbookUrl: 'docs' }, '-c runbookUrl=docs: must be the address of docs/runbook.md'],
    [{ alarmEmail: 'operator' }, '-c alarmEmail=operator: must be an e-mail address'],
    [{ forgeAllowHosts: 'https://x' }, '-c forgeAllowHosts=https://x: must be host or host:port'],
    ...['forge.lan:99999', 'forge.lan:0x1', 'forge.lan:', '[::1', '1.2.3.4.5', 'a,b:70000'].map(
      (forgeAllowHosts) =>
        [{ forgeAllowHosts }, `-c forgeAllowHosts=${forgeAllowHosts}: must be host or host:port`] as const,
    ),
    ...['0', '0.0', '0.001', '-1', 'NaN', 'Infinity', '1e3'].map(
      (rateFactor) => [{ rateFactor }, `-c rateFactor=${rateFactor}: must be`] as const,
    ),
    [{ rateFactor: '0' }, '-c rateFactor=0: must be 0.01 to 999999'],
    [
      { vpcCidr: '10.0.7.9/16' },
      '-c vpcCidr=10.0.7.9/16: must begin with the first address of its block: 10.0.0.0/16',
    ],
    [{ vpcCidr: '10.1.2.128/24' }, 'must begin with the first address of its block: 10.1.2.0/24'],
    [{ vpcCidr: '10.1.2.0/28' }, '-c vpcCidr=10.1.2.0/28: must be /16 to /24'],
    ...[
      'https://ann:pw@mq.example.org',
      'https://mq.example.org/?a=b',
      'https://mq.example.org/#x',
      'https://mq.example.org?',
    ].flatMap((address) =>
      // Without the value, which may be a secret.
      ['publicUrl', 'identityUrl'].map(
        (key) =>
          [
            { [key]: address },
            `\n  -c ${key}: must be an address without credentials, query and fragment`,
          ] as const,
      ),
    ),
    [{ nag: 'yes' }, '-c nag=yes: must be true or false'],
    [{ logLevel: 'trace' }, '-c logLevel=trace: must be one of: debug, info, warn, error'],
    [{ domainName: 'Mq.Example', certificateArn: CERTIFICATE }, 'must be a host name in lower case'],
    [{ domainName: 'queue.example.org' }, '-c domainName: needs -c certificateArn too'],
    [{ certificateArn: CERTIFICATE }, '-c certificateArn: needs -c domainName too'],
    [
      { domainName: 'queue.example.org', certificateArn: CERTIFICATE.replace('us-east-1', 'eu-west-1') },
      'must be the ARN of a certificate in us-east-1',
    ],
    [{ hostedZoneId: 'Z0123456789' }, '-c hostedZoneId: needs -c domainName too'],
    [{ monthlyBudgetUsd: '40' }, '-c monthlyBudgetUsd: needs -c alarmEmail too'],
    [{ emailApiUrl: 'https://mail.example.org' }, '-c emailApiUrl: needs -c notificationFrom too'],
    [
      { emailApiUrl: 'http://mail.example.org', notificationFrom: 'a@b.org' },
      'must be the address of a mail provider',
    ],
    [
      { paymentsPrices: 'pro.flat=p1,team.flat=p2,pro.seats=p3,team.seats=p4' },
      'pro.seats: is charged by usage, which is not metered here',
    ],
    [{ engineCpu: '300' }, '-c engineCpu=300: must be one of: 256, 512, 1024, 2048, 4096'],
    [
      { engineMemoryMb: '4096' },
      '-c engineMemoryMb: beside engineCpu=256 must be 512, or 1024 to 2048 in steps of 1024',
    ],
    [
      { engineCpu: '1024', engineMemoryMb: '1024' },
      '-c engineMemoryMb: beside engineCpu=1024 must be 2048 to 8192 in steps of 1024',
    ],
    [{ engineCpu: '1024' }, '-c engineMemoryMb: beside engineCpu=1024 must be 2048'],
    [{ engineTasks: '0' }, '-c engineTasks=0: must be 1 to 20'],
    [{ workersMax: '1001' }, '-c workersMax=1001: must be 2 to 1000'],
    [{ tickMemoryMb: '300' }, '-c tickMemoryMb=300: must be one of: 256, 512, 1024, 1792'],
    [{ keyVersion: '0' }, '-c keyVersion=0: must be 1 to 9'],
    [{ oldestKeyVersion: '2' }, '-c oldestKeyVersion: cannot be above keyVersion'],
    [{ monthlyBudgetUsd: '-1' }, 'must be whole dollars'],
    [
      { adminEmail: 'a@example.org', identityUrl: 'https://id.example.org' },
      '-c adminEmail: cannot be given with -c identityUrl',
    ],
    [
      { waf: 'true', webAclArn: 'arn:aws:wafv2:us-east-1:123456789012:global/webacl/own/1' },
      '-c webAclArn: cannot be given with -c waf',
    ],
  ])('%j is refused with the cure', (context, words) => {
    expect(parse(context)).toThrow(words);
  });

  test.each<[Readonly<Record<string, string>>]>([
    [{ forgeAllowHosts: 'forge.lan, git.example.org:8443,[fd00::1]:3000,10.1.2.3' }],
    [{ rateFactor: '0.5' }],
    [{ vpcCidr: '10.1.16.0/20' }],
    [{ publicUrl: 'https://mq.example.org/' }],
  ])('%j is taken', (context) => {
    expect(parse(context)).not.toThrow();
  });

  test('an unknown key is refused with the list of those that are known', () => {
    expect(parse({ domain: 'queue.example.org' })).toThrow(
      /-c domain: is not known; known are stage, .*domainName/,
    );
  });

  test('all faults are told at once', () => {
    expect(parse({ stage: 'x', nag: 'y', surprise: 'z' })).toThrow(/surprise[\s\S]*stage=x[\s\S]*nag=y/);
  });

  test('keys of the tools are no fault, and an empty value is none', () => {
    const config = parseStageConfig({
      '@aws-cdk/core:checkSecretUsage': true,
      'aws:cdk:enable-path-metadata': true,
      'availability-zones:account=1:region=x': ['a'],
      alarmEmail: '',
    });
    expect(config).toMatchObject({
      stage: 'dev',
      serviceName: 'mq',
      alarmEmail: undefined,
      retainData: false,
    });
  });

  test('the README of the configuration names every key', () => {
    const documented = [...readFileSync('docs/operate.md', 'utf8').matchAll(/^\| `(\w+)` +\|/gm)].map(
      ([, key]) => key,
    );
    const known = /known are (.*)$/m.exec(catchMessage(parse({ surprise: 'x' })))?.[1]?.split(', ');
    expect(documented.sort()).toEqual(known?.sort());
  });
});

function catchMessage(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
  return '';
}
