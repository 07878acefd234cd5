import { DescribeServicesCommand, type ECSClient, UpdateServiceCommand } from '@aws-sdk/client-ecs';
import type { EngineFleet } from '../../ports/engine-fleet.ts';

export interface EngineFleetConfig {
  readonly client: ECSClient;
  readonly cluster: string;
  readonly service: string;
  /** Tasks of an engine that is up. */
  readonly tasks: number;
}

/** The engine's Fargate service: two calls, on that one service. */
export function createEngineFleet({ client, cluster, service, tasks }: EngineFleetConfig): EngineFleet {
  return {
    size: tasks,

    async read() {
      const answer = await client.send(new DescribeServicesCommand({ cluster, services: [service] }));
      const found = answer.services?.[0];
      if (found?.desiredCount === undefined || found.runningCount === undefined) {
        throw new Error('the engine service was not found');
      }
      const times = (found.deployments ?? []).flatMap((each) => each.updatedAt ?? each.createdAt ?? []);
      return {
        wanted: found.desiredCount,
        running: found.runningCount,
        changedAt: Math.max(0, ...times.map((time) => time.getTime())),
      };
    },

    async setWanted(desiredCount) {
      await client.send(new UpdateServiceCommand({ cluster, service, desiredCount }));
    },
  };
}
