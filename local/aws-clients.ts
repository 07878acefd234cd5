import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import { KMSClient } from '@aws-sdk/client-kms';
import { SQSClient } from '@aws-sdk/client-sqs';
import { LOCAL_REGION } from './template-runner/resolver.ts';

/** The identity that every process on this machine has, as an instance in the cloud has its role and its region. */
export function machineEnvironment(endpoints: {
  readonly dynamo: string;
  readonly sqs: string;
  readonly kms: string;
  readonly secrets: string;
  readonly email: string;
  readonly sockets: string;
}): Record<string, string> {
  return {
    AWS_REGION: LOCAL_REGION,
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_EC2_METADATA_DISABLED: 'true',
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
    AWS_ENDPOINT_URL_DYNAMODB: endpoints.dynamo,
    AWS_ENDPOINT_URL_SQS: endpoints.sqs,
    AWS_ENDPOINT_URL_KMS: endpoints.kms,
    AWS_ENDPOINT_URL_SSM: endpoints.secrets,
    AWS_ENDPOINT_URL_SESV2: endpoints.email,
    AWS_ENDPOINT_URL_APIGATEWAYMANAGEMENTAPI: endpoints.sockets,
  };
}

export function createClients(endpoints: {
  readonly dynamo: string;
  readonly sqs: string;
  readonly kms: string;
}) {
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';
  const common = { region: LOCAL_REGION, credentials: { accessKeyId: 'local', secretAccessKey: 'local' } };
  return {
    dynamo: new DynamoDBClient({ ...common, endpoint: endpoints.dynamo }),
    streams: new DynamoDBStreamsClient({ ...common, endpoint: endpoints.dynamo }),
    sqs: new SQSClient({ ...common, endpoint: endpoints.sqs }),
    kms: new KMSClient({ ...common, endpoint: endpoints.kms }),
  };
}
