import { readTemplate } from '../support/template.ts';

const template = readTemplate();

/** Everything that CloudFormation makes before a resource, and deletes after it: what it names, and what that names. */
function comesBefore(id: string): ReadonlySet<string> {
  const seen = new Set<string>();
  const visit = (each: string): void => {
    const resource = template.resources[each];
    if (resource === undefined) return;
    for (const next of [...(resource.DependsOn ?? []), ...namedIn(resource.Properties)]) {
      if (seen.has(next)) continue;
      seen.add(next);
      visit(next);
    }
  };
  visit(id);
  return seen;
}

function namedIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(namedIn);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    if (key === 'Ref') return [String(inner)];
    if (key === 'Fn::GetAtt') return [String(inner[0])];
    return namedIn(inner);
  });
}

const idsOf = (type: string, name: RegExp): string[] =>
  template.ofType(type).flatMap(([id]) => (name.test(id) ? [id] : []));

describe('the first task of the engine', () => {
  const [[service = ''] = []] = template.ofType('AWS::ECS::Service');
  const before = comesBefore(service);

  test.each([
    ['both ways out of its two subnets', 'AWS::EC2::Route', /engineSubnet/, 4],
    ['the tables of its subnets', 'AWS::EC2::SubnetRouteTableAssociation', /engineSubnet/, 2],
    ['the way to the table', 'AWS::EC2::VPCEndpoint', /^NetworkVpcTable/, 1],
    ['the rights to its image, log and secret', 'AWS::IAM::Policy', /^EngineTaskExecutionRole/, 1],
    ['its own rights', 'AWS::IAM::Policy', /^EngineTaskTaskRole/, 1],
    ['its secret', 'Custom::Secret', /^EngineStamp/, 1],
    // "Some addresses are mapped": a gateway is not detached while a task has a public address.
    ['the gateway, which goes after it when the stack is deleted', 'AWS::EC2::VPCGatewayAttachment', /./, 1],
  ])('starts when it has %s', (_what, type, name, count) => {
    const wanted = idsOf(type, name);
    expect(wanted).toHaveLength(count);
    expect(wanted.filter((id) => !before.has(id))).toEqual([]);
  });
});

test('a function in the network is made after its ways out, and goes before them', () => {
  const inside = template
    .ofType('AWS::Lambda::Function')
    .filter(([, { Properties }]) => Properties.VpcConfig);
  expect(inside.length).toBeGreaterThan(0);
  const wanted = [
    ...idsOf('AWS::EC2::Route', /workerSubnet/),
    ...idsOf('AWS::EC2::SubnetRouteTableAssociation', /workerSubnet/),
    ...idsOf('AWS::EC2::VPCEndpoint', /^NetworkVpcTable/),
  ];
  expect(wanted).toHaveLength(5);
  for (const [id] of inside) {
    const before = comesBefore(id);
    expect([id, wanted.filter((each) => !before.has(each))]).toEqual([id, []]);
  }
});

test('what makes the secrets, and its rights, outlive them when the stack is deleted', () => {
  const secrets = template.ofType('Custom::Secret');
  expect(secrets.length).toBeGreaterThan(1);
  const maker = [
    ...idsOf('AWS::Lambda::Function', /^SecretsMaker/),
    ...idsOf('AWS::IAM::Policy', /^SecretsMaker/),
  ];
  expect(maker).toHaveLength(2);
  for (const [id] of secrets) expect(maker.filter((each) => !comesBefore(id).has(each))).toEqual([]);
});
