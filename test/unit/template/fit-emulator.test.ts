import { fitEmulator, type TemplateDocument } from '../../template/fit-emulator.ts';

const KNOWN = new Set(['AWS::DynamoDB::Table', 'AWS::IAM::Policy', 'AWS::SQS::Queue', 'AWS::EC2::Route']);
const fitted = (Resources: TemplateDocument['Resources']) => fitEmulator({ Resources, Outputs: {} }, KNOWN);

test('a type that the emulator does not know is left out and counted; what names it gets a text, of the same kind', () => {
  const { template, leftOut } = fitted({
    Alarm: { Type: 'AWS::CloudWatch::Alarm' },
    Other: { Type: 'AWS::CloudWatch::Alarm' },
    Rights: {
      Type: 'AWS::IAM::Policy',
      DependsOn: ['Alarm', 'Queue'],
      Properties: {
        Resource: [
          { 'Fn::GetAtt': ['Alarm', 'Arn'] },
          { Ref: 'Other' },
          { Ref: 'Queue' },
          { Ref: 'AWS::Region' },
        ],
      },
    },
    Queue: { Type: 'AWS::SQS::Queue', Properties: {} },
  });
  expect([...leftOut]).toEqual([['AWS::CloudWatch::Alarm', 2]]);
  expect(template.Resources.Rights).toEqual({
    Type: 'AWS::IAM::Policy',
    DependsOn: ['Queue'],
    Properties: {
      Resource: [
        'arn:aws:ssm:us-east-1:123456789012:parameter/left-out-Alarm',
        'left-out-Other',
        { Ref: 'Queue' },
        { Ref: 'AWS::Region' },
      ],
    },
  });
  expect(Object.keys(template)).toEqual(['Resources']);
});

test('the table is one that the emulator knows, with the same keys, indexes and stream', () => {
  const keys = [{ AttributeName: 'pk', KeyType: 'HASH' }];
  const { template, leftOut } = fitted({
    Data: {
      Type: 'AWS::DynamoDB::GlobalTable',
      Properties: {
        AttributeDefinitions: [],
        KeySchema: keys,
        StreamSpecification: { StreamViewType: 'NEW_IMAGE' },
        GlobalSecondaryIndexes: [{ IndexName: 'gsi1', KeySchema: keys, Projection: {}, WriteOnly: 1 }],
        Replicas: [{ Region: 'us-east-1' }],
      },
    },
  });
  expect(leftOut.size).toBe(0);
  expect(template.Resources.Data).toEqual({
    Type: 'AWS::DynamoDB::Table',
    Properties: {
      AttributeDefinitions: [],
      KeySchema: keys,
      StreamSpecification: { StreamViewType: 'NEW_IMAGE' },
      BillingMode: 'PAY_PER_REQUEST',
      GlobalSecondaryIndexes: [{ IndexName: 'gsi1', KeySchema: keys, Projection: {} }],
    },
  });
});

test('a route through a gateway that is left out is left out too', () => {
  const { leftOut } = fitted({
    Way: { Type: 'AWS::EC2::Route', Properties: { EgressOnlyInternetGatewayId: { Ref: 'Gateway' } } },
    Gateway: { Type: 'AWS::EC2::EgressOnlyInternetGateway' },
  });
  expect(Object.fromEntries(leftOut)).toEqual({
    'AWS::EC2::Route': 1,
    'AWS::EC2::EgressOnlyInternetGateway': 1,
  });
});
