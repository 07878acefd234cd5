import { BOT, OWNER, PERSON } from './people.ts';
import type { Profile } from './profiles.ts';
import type { NewRepo } from './set-up.ts';

/** The name that the queue gives to its status context, gate file and probe branches. */
const QUEUE_NAME = 'mq';

export function gateFileOf(queueName: string): string {
  return `${queueName}-gate.yaml`;
}

/** The gate as a repository would have it: it runs on staged batches (`mq/**`) and on probes (`<queue>/**`). */
export function gateWorkflow(queueName = QUEUE_NAME, command = 'test ! -f broken'): string {
  const branches = [...new Set(['mq/**', `${queueName}/**`])].map((pattern) => `'${pattern}'`);
  return [
    'name: gate',
    'on:',
    '  push:',
    `    branches: [${branches.join(', ')}]`,
    'jobs:',
    '  gate:',
    '    runs-on: docker',
    '    steps:',
    '      - uses: actions/checkout@v4',
    '      - name: check',
    '        run: |',
    ...command.split('\n').map((line) => `          ${line}`),
    '',
  ].join('\n');
}

/** `acme/app`, set up for a queue of that name. */
export function defaultSeed(profile: Profile, queueName = QUEUE_NAME): NewRepo {
  return {
    owner: 'acme',
    name: 'app',
    files: {
      'README.md': '# app\n',
      [`${profile.workflowDirs[0] ?? '.forgejo/workflows'}/${gateFileOf(queueName)}`]:
        gateWorkflow(queueName),
    },
    collaborators: { [PERSON]: 'write', [BOT]: 'admin', [OWNER]: 'admin' },
    requiredContexts: [queueName],
  };
}
