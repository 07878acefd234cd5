import { DescribeTasksCommand, type ECSClient, ListTasksCommand, type Task } from '@aws-sdk/client-ecs';
import { createEngineDirectory } from '#core/adapters/ecs/engine-directory.ts';

const task = (ip: string, lastStatus = 'RUNNING', healthStatus = 'HEALTHY'): Task => ({
  taskArn: `arn:aws:ecs:us-east-1:123456789012:task/cluster/${ip}`,
  lastStatus,
  healthStatus: healthStatus as 'HEALTHY',
  attachments: [
    {
      type: 'ElasticNetworkInterface',
      details: [
        { name: 'subnetId', value: 'subnet-1' },
        { name: 'privateIPv4Address', value: ip },
      ],
    },
  ],
});

/** AWS, "Amazon ECS API Reference", ListTasks: tasks that should run; DescribeTasks: attachments of the network mode `awsvpc`. */
function givenPlatform(first: readonly Task[]) {
  const platform = { tasks: first, calls: 0, now: 0 };
  const client = {
    send: async (command: unknown) => {
      platform.calls += 1;
      if (command instanceof ListTasksCommand) {
        expect(command.input).toEqual({ cluster: 'cluster', serviceName: 'engine' });
        return { taskArns: platform.tasks.map(({ taskArn }) => taskArn) };
      }
      if (command instanceof DescribeTasksCommand) {
        return { tasks: platform.tasks.filter(({ taskArn = '' }) => command.input.tasks?.includes(taskArn)) };
      }
      throw new Error('another call');
    },
  } as unknown as ECSClient;
  const directory = createEngineDirectory({
    client,
    cluster: 'cluster',
    service: 'engine',
    port: 8080,
    clock: { monotonic: () => platform.now },
  });
  return { platform, list: (fresh = false) => directory.list({ fresh }) };
}

describe('where the engine is', () => {
  test.each<[string, readonly Task[], readonly string[]]>([
    ['a task that runs is named by its private address', [task('10.0.0.1')], ['http://10.0.0.1:8080']],
    ['one that is not up yet is left out', [task('10.0.0.1', 'PENDING', 'UNKNOWN')], []],
    ['one that is unhealthy is left out', [task('10.0.0.1', 'RUNNING', 'UNHEALTHY')], []],
    [
      'while one is healthy, others whose health is not known yet wait',
      [task('10.0.0.1', 'RUNNING', 'UNKNOWN'), task('10.0.0.2')],
      ['http://10.0.0.2:8080'],
    ],
    [
      'where the health of none is known yet, they are tried',
      [task('10.0.0.1', 'RUNNING', 'UNKNOWN')],
      ['http://10.0.0.1:8080'],
    ],
    ['an engine that sleeps is nowhere', [], []],
  ])('%s', async (_name, tasks, expected) => {
    expect(await givenPlatform(tasks).list()).toEqual(expected);
  });

  test('is remembered for a minute, unless the caller found no task there', async () => {
    const { platform, list } = givenPlatform([task('10.0.0.1')]);
    await list();
    platform.tasks = [task('10.0.0.2')];
    platform.now = 59_000;
    expect(await list()).toEqual(['http://10.0.0.1:8080']);
    expect(platform.calls).toBe(2);
    expect(await list(true)).toEqual(['http://10.0.0.2:8080']);
    platform.now = 120_000;
    platform.tasks = [task('10.0.0.3')];
    expect(await list()).toEqual(['http://10.0.0.3:8080']);
  });

  test('that it sleeps is not remembered: it may be up in a moment', async () => {
    const { platform, list } = givenPlatform([]);
    expect(await list()).toEqual([]);
    platform.tasks = [task('10.0.0.1')];
    expect(await list()).toEqual(['http://10.0.0.1:8080']);
  });
});
