import { BOT, OWNER, PERSON } from './people.ts';
import type { Profile } from './profiles.ts';
import type { NewRepo } from './set-up.ts';

export const GATE_FILE = 'mq-gate.yaml';

/** The gate as a repository would have it: it runs on staged batches and on probes. */
export function gateWorkflow(command = 'test ! -f broken'): string {
  return [
    'name: gate',
    'on:',
    '  push:',
    "    branches: ['mq/**']",
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

export function defaultSeed(profile: Profile): NewRepo {
  return {
    owner: 'acme',
    name: 'app',
    files: {
      'README.md': '# app\n',
      [`${profile.workflowDirs[0] ?? '.forgejo/workflows'}/${GATE_FILE}`]: gateWorkflow(),
    },
    collaborators: { [PERSON]: 'write', [BOT]: 'admin', [OWNER]: 'admin' },
    requiredContexts: ['mq'],
  };
}
