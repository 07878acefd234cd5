import { DEFAULT_SERVICE_NAME, gateFileName, stagingPattern } from '#core/domain/queue/queue-names.ts';
import { BOT, OWNER, PERSON } from './people.ts';
import type { Profile } from './profiles.ts';
import type { NewRepo } from './set-up.ts';

/** The gate as a repository would have it: it runs on staged batches and on probes. */
export function gateWorkflow(queueName = DEFAULT_SERVICE_NAME, command = 'test ! -f broken'): string {
  return [
    'name: gate',
    'on:',
    '  push:',
    `    branches: ['${stagingPattern(queueName)}']`,
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
export function defaultSeed(profile: Profile, queueName = DEFAULT_SERVICE_NAME): NewRepo {
  return {
    owner: 'acme',
    name: 'app',
    files: {
      'README.md': '# app\n',
      [`${profile.workflowDirs[0] ?? '.forgejo/workflows'}/${gateFileName(queueName)}`]:
        gateWorkflow(queueName),
    },
    collaborators: { [PERSON]: 'write', [BOT]: 'admin', [OWNER]: 'admin' },
    requiredContexts: [queueName],
  };
}
