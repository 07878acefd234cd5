import type { Emulator } from './dynamo.ts';
import { type JsonAnswer, startJsonService } from './loopback.ts';

/** A service whose tasks can be counted, started and stopped. */
export interface ScalableService {
  /** ARN or name, as callers may give either. */
  readonly names: readonly string[];
  readonly wanted: number;
  readonly running: number;
  /** Epoch ms of the last start or stop. */
  readonly changedAt: number;
  scale(tasks: number): Promise<void>;
}

/** On loopback what may be done with the engine's service: look at it and at its tasks, and set the desired count. */
export async function startEcs(services: readonly ScalableService[]): Promise<Emulator> {
  return startJsonService(
    (operation, input) => answer(services, operation, input as Input),
    'ClientException',
  );
}

interface Input {
  readonly services?: string[];
  readonly service?: string;
  readonly serviceName?: string;
  readonly tasks?: string[];
  readonly desiredCount?: number;
}

async function answer(
  services: readonly ScalableService[],
  operation: string,
  input: Input,
): Promise<JsonAnswer> {
  const send = (status: number, body: unknown): JsonAnswer => ({ status, body });
  const find = (name: string | undefined) => services.find((each) => each.names.includes(name ?? ''));
  switch (operation.split('.')[1]) {
    case 'DescribeServices': {
      const found = (input.services ?? []).map(find).filter((each) => each !== undefined);
      return send(200, { services: found.map(describe), failures: [] });
    }
    case 'UpdateService': {
      const service = find(input.service);
      if (service === undefined) return send(400, { __type: 'ServiceNotFoundException' });
      if (input.desiredCount !== undefined) await service.scale(input.desiredCount);
      return send(200, { service: describe(service) });
    }
    case 'ListTasks': {
      const service = find(input.serviceName);
      if (service === undefined) return send(400, { __type: 'ServiceNotFoundException' });
      return send(200, { taskArns: service.wanted > 0 ? [taskArn(service)] : [] });
    }
    case 'DescribeTasks': {
      const tasks = services.filter((each) => input.tasks?.includes(taskArn(each)));
      return send(200, { tasks: tasks.map(describeTask), failures: [] });
    }
    default:
      return send(400, { __type: 'ClientException', message: 'not known here' });
  }
}

function describe(service: ScalableService) {
  const changedAt = service.changedAt / 1000;
  return {
    serviceArn: service.names[0],
    serviceName: service.names.at(-1),
    status: 'ACTIVE',
    desiredCount: service.wanted,
    runningCount: service.running,
    pendingCount: service.wanted - service.running,
    deployments: [{ status: 'PRIMARY', createdAt: changedAt, updatedAt: changedAt }],
  };
}

const taskArn = (service: ScalableService): string => `${service.names[0]}/task`;

/** All tasks share the address of this machine; on which port theirs is, the environment of a function says. */
function describeTask(service: ScalableService) {
  return {
    taskArn: taskArn(service),
    lastStatus: service.running > 0 ? 'RUNNING' : 'PENDING',
    healthStatus: 'UNKNOWN',
    attachments: [
      { type: 'ElasticNetworkInterface', details: [{ name: 'privateIPv4Address', value: '127.0.0.1' }] },
    ],
  };
}
