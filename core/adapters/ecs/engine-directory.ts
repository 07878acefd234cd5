import { DescribeTasksCommand, type ECSClient, ListTasksCommand, type Task } from '@aws-sdk/client-ecs';
import type { EngineDirectory } from '../../ports/engine-fleet.ts';
import type { Clock } from '../../ports/system.ts';

export interface EngineDirectoryConfig {
  readonly client: ECSClient;
  readonly cluster: string;
  readonly service: string;
  readonly port: number;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/**
 * How long addresses are remembered, in ms: ECS limits the rate of calls over all workers together. A task that is gone
 * is noticed by the first call to it.
 */
const REMEMBERED_MS = 60_000;

/** Addresses of the engine's tasks, asked of ECS; a private DNS zone would cost as much as all alarms. */
export function createEngineDirectory(config: EngineDirectoryConfig): EngineDirectory {
  const { client, cluster, service, port, clock } = config;
  let remembered: { readonly urls: readonly string[]; readonly until: number } | null = null;

  async function ask(): Promise<readonly string[]> {
    // Without a status of one's own these are the tasks that should run: those that are being stopped are left out.
    const { taskArns = [] } = await client.send(new ListTasksCommand({ cluster, serviceName: service }));
    if (taskArns.length === 0) return [];
    const { tasks = [] } = await client.send(new DescribeTasksCommand({ cluster, tasks: taskArns }));
    const running = tasks.filter(
      ({ lastStatus, healthStatus }) => lastStatus === 'RUNNING' && healthStatus !== 'UNHEALTHY',
    );
    const healthy = running.filter(({ healthStatus }) => healthStatus === 'HEALTHY');
    return (healthy.length > 0 ? healthy : running).flatMap(findAddress).map((ip) => `http://${ip}:${port}`);
  }

  return {
    async list({ fresh }) {
      if (!fresh && remembered !== null && clock.monotonic() < remembered.until) return remembered.urls;
      const urls = await ask();
      // An engine that sleeps is about to be woken.
      remembered = urls.length === 0 ? null : { urls, until: clock.monotonic() + REMEMBERED_MS };
      return urls;
    },
  };
}

function findAddress({ attachments = [] }: Task): readonly string[] {
  const details = attachments.flatMap((attachment) => attachment.details ?? []);
  const address = details.find(({ name }) => name === 'privateIPv4Address')?.value;
  return address === undefined ? [] : [address];
}
