import { readFileSync } from 'node:fs';
import { estimateCost } from '../../lib/cost.ts';
import { describeDeployment, findLosses } from '../../lib/deployed.ts';
import { countResources, findSize } from '../../lib/report.ts';
import { parseStageConfig } from '../../lib/stage-config.ts';
import { BORROWED, readTemplate } from '../support/template.ts';

const SUBNETS = BORROWED.vpcSubnetIds.split(',');
const own = readTemplate(BORROWED);
const made = readTemplate();

describe('a network that the operator has', () => {
  test('is taken as it is: the stack makes security groups in it and nothing else of a network', () => {
    const types = new Set(
      Object.values(own.resources).flatMap(({ Type }) => (Type.startsWith('AWS::EC2::') ? [Type] : [])),
    );
    expect([...types].sort()).toEqual(['AWS::EC2::SecurityGroup', 'AWS::EC2::SecurityGroupIngress']);
    for (const [, { Properties }] of own.ofType('AWS::EC2::SecurityGroup'))
      expect(Properties.VpcId).toBe(BORROWED.vpcId);
  });

  test('holds the engine, without public addresses, which then cost nothing', () => {
    const { AwsvpcConfiguration } = own.only('AWS::ECS::Service').Properties.NetworkConfiguration;
    expect(AwsvpcConfiguration).toMatchObject({ AssignPublicIp: 'DISABLED', Subnets: SUBNETS });
    const resources = Object.values(own.resources);
    const lines = estimateCost(countResources(resources), findSize(resources));
    expect(lines.map(({ what }) => what)).not.toContain('its public address');
  });

  test('holds what calls a forge, because a private one is named; nothing else moves into it', () => {
    const inside = (template: typeof own): string[] =>
      [...template.functionNames()].flatMap(([id, name]) =>
        template.get(id).Properties.VpcConfig === undefined ? [] : [name],
      );
    expect(inside(made).sort()).toEqual(['ContainerHealth', 'Worker']);
    expect(inside(own).sort()).toEqual(['Connections', 'ContainerHealth', 'ForgeOps', 'IdleLook', 'Worker']);
    for (const name of inside(own)) {
      const { VpcConfig, Environment } = own.functionNamed(name).Properties;
      // Its subnets may have no IPv6, and its endpoints answer to the ordinary names.
      expect(VpcConfig).toMatchObject({ Ipv6AllowedForDualStack: false, SubnetIds: SUBNETS });
      expect(Object.keys(Environment.Variables).filter((key) => key.startsWith('AWS_ENDPOINT'))).toEqual([]);
      expect(Environment.Variables.NODE_OPTIONS).not.toContain('ipv6');
    }
  });

  test.each([
    [{ vpcId: BORROWED.vpcId }, /-c vpcId: needs -c vpcSubnetIds too/],
    [{ vpcSubnetIds: BORROWED.vpcSubnetIds }, /-c vpcSubnetIds: needs -c vpcId too/],
    [{ ...BORROWED, vpcCidr: '10.9.0.0/16' }, /-c vpcCidr: cannot be given with -c vpcId/],
    [{ ...BORROWED, vpcZones: 'eu-west-1a,eu-west-1b' }, /-c vpcZones: cannot be given with -c vpcId/],
    [{ vpcZones: 'eu-west-1a' }, /-c vpcZones=eu-west-1a: must be two zones/],
    [{ vpcZones: 'eu-west-1a,eu-west-1a' }, /must be two zones/],
    [{ vpcCidr: '10.9.0.0/8' }, /-c vpcCidr=10.9.0.0\/8: must be \/16 to \/24/],
    [{ vpcId: BORROWED.vpcId, vpcSubnetIds: 'subnet-01234567' }, /must be two or more/],
  ])('is asked for in full: %j', (context, words) => {
    expect(() => parseStageConfig(context)).toThrow(words);
  });
});

test('the network that is made has the block that was asked for', () => {
  expect(made.only('AWS::EC2::VPC').Properties.CidrBlock).toBe('10.0.0.0/16');
  expect(parseStageConfig({ vpcCidr: '10.9.0.0/20' }).network).toEqual({
    own: undefined,
    cidr: '10.9.0.0/20',
    zones: undefined,
  });
});

/**
 * "The following AWS Regions do not support 64-bit ARM workloads: US East (N. Virginia), the use1-az3 Availability Zone" (AWS, "Working
 * with 64-bit ARM workloads on Amazon ECS"), which any of the first names may stand for ("AZ IDs",
 * https://docs.aws.amazon.com/global-infrastructure/latest/regions/az-ids.html).
 */
test('the network that is made has the zones that were asked for, and keeps them', () => {
  const zonesOf = (template: typeof made) =>
    template.ofType('AWS::EC2::Subnet').map(([, { Properties }]) => Properties.AvailabilityZone);
  const named = readTemplate({ vpcZones: 'us-east-1b,us-east-1d' });
  expect(zonesOf(named)).toEqual(['us-east-1b', 'us-east-1d', 'us-east-1b', 'us-east-1d']);
  expect(zonesOf(made)[0]).toEqual({ 'Fn::Select': [0, { 'Fn::GetAZs': '' }] });
  const [first, other] = [{ vpcZones: 'us-east-1b,us-east-1d' }, {}].map((context) =>
    describeDeployment(parseStageConfig(context)),
  );
  if (first === undefined || other === undefined) throw new Error('no records');
  expect(findLosses(first, first)).toEqual([]);
  expect(findLosses(first, other)).toEqual([expect.stringMatching(/Keep vpcZones=us-east-1b,us-east-1d/)]);
  expect(findLosses(other, first)).toEqual([expect.stringMatching(/Leave vpcZones out/)]);
  expect(findLosses({ ...other, network: null }, first)).toEqual([
    expect.stringMatching(/Leave vpcZones out/),
  ]);
});

test('another network than the one that is deployed is refused, and a record of before it was kept is not', () => {
  const deployed = describeDeployment(parseStageConfig(BORROWED));
  const forgotten = describeDeployment(
    parseStageConfig({ identityUrl: BORROWED.identityUrl, publicUrl: BORROWED.publicUrl }),
  );
  expect(findLosses(deployed, forgotten)).toEqual([
    expect.stringMatching(/network is 10\.0\.0\.0\/16, and vpc-\w+ is deployed.+Keep vpcId=vpc-/),
  ]);
  expect(findLosses({ ...deployed, network: null }, forgotten)).toEqual([]);
});

describe('certificates of private authorities', () => {
  const pem = readFileSync(BORROWED.forgeCaFile, 'utf8');
  const callers = ['Connections', 'ForgeOps', 'IdleLook'];

  test('are in a parameter, and in no environment: all keys of a function together have 4 KB', () => {
    const parameter = own.only('AWS::SSM::Parameter').Properties;
    expect(parameter).toMatchObject({ Value: pem, Type: 'String', Tier: 'Standard' });
    const { Parameter: _, ...others } = Object.fromEntries(
      Object.values(own.resources).map((resource) => [resource.Type.split('::').at(-1), resource]),
    );
    expect(JSON.stringify(others)).not.toContain('BEGIN CERTIFICATE');
    expect(made.ofType('AWS::SSM::Parameter')).toEqual([]);
  });

  /**
   * https://docs.aws.amazon.com/systems-manager/latest/userguide/parameter-store-advanced-parameters.html: an advanced one
   * cannot become a standard one again, so that a file that shrinks would end in a rollback.
   */
  test('beyond 4 KB are in an advanced parameter of another name', () => {
    const few = own.only('AWS::SSM::Parameter').Properties;
    const large = readTemplate({ ...BORROWED, forgeCaFile: 'test/support/forge-authorities.pem' });
    const many = large.only('AWS::SSM::Parameter').Properties;
    expect([few.Tier, many.Tier]).toEqual(['Standard', 'Advanced']);
    expect(JSON.stringify(many.Name)).not.toBe(JSON.stringify(few.Name));
    const idOf = (template: typeof own) => template.ofType('AWS::SSM::Parameter')[0]?.[0];
    expect(idOf(large)).not.toBe(idOf(own));
  });

  test('are read by what calls a forge, and by nothing else', () => {
    const [[id = ''] = []] = own.ofType('AWS::SSM::Parameter');
    for (const name of callers) {
      const { Variables } = own.functionNamed(name).Properties.Environment;
      expect([name, Variables.FORGE_CA_PARAMETER]).toEqual([name, { Ref: id }]);
      expect(made.functionNamed(name).Properties.Environment.Variables.FORGE_CA_PARAMETER).toBe('');
    }
    const readers = own
      .allowed()
      .filter((statement) => JSON.stringify(statement.Resource).includes(`"${id}"`));
    expect(readers.map(({ holder }) => holder).sort()).toEqual([
      'ConnectionsRole',
      'EngineTaskExecutionRole',
      'ForgeOpsRole',
      'IdleLookRole',
    ]);
    const [container] = own.only('AWS::ECS::TaskDefinition').Properties.ContainerDefinitions;
    const secrets = container.Secrets.map(({ Name }: { Name: string }) => Name);
    expect(secrets).toContain('FORGE_CA_PEM');
  });

  test.each([
    ['nowhere.pem', /is not there/],
    ['package.json', /is no PEM file/],
    ['package-lock.json', /has more than 8192 bytes/],
  ])('of the file %s are refused with words', (forgeCaFile, words) => {
    expect(() => parseStageConfig({ forgeCaFile })).toThrow(words);
  });
});
