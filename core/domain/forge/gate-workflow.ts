import { gateFileName, stagingPattern } from '../queue/queue-names.ts';
import { type ForgeVersion, heedsJobPermissions } from './forge-version.ts';

/** Where the forge holds the token to what the workflow asks for, reading is all that the gate asks for. */
const READ_ONLY = ['permissions:', '  contents: read', ''];

/**
 * The workflow to copy: fails until its stub is replaced, posts no status (A8), and may only read where the forge sees
 * to it. Triggers on pushes of staged batches and of probes (D-66), never on pull requests: their heads are not what
 * lands. `forge`: null where it is not known for which the copy is.
 */
export function gateTemplate(queueName: string, forge: ForgeVersion | null): string {
  const readOnly = forge !== null && heedsJobPermissions(forge);
  return `# Gate of the merge queue: runs the whole suite once on each staged batch.
# Put it on the base branch as ${gateFileName(queueName)} in the folder your other workflows are in; where there are none yet,
# that is .forgejo/workflows on Forgejo and .gitea/workflows on Gitea.
#
# It posts no commit status and needs no right to: the queue reads the result of the run itself.
# Once approved and staged, code of a fork runs here too, with the secrets of this repository.
${
  readOnly
    ? '# Keep the permissions at read.'
    : `# Gitea 1.26 and newer hold the job to "permissions: { contents: read }"; Forgejo does not heed that key: keep secrets out
# of this workflow.`
}
# No "paths" filter: a push of a new branch has nothing to compare with and would start no run.
# No "concurrency" group: gate runs of different batches may cancel each other, or wait behind a run that each account
# which may open a pull request can begin.
name: ${queueName}-gate

on:
  push:
    branches:
      - '${stagingPattern(queueName)}'

${readOnly ? `${READ_ONLY.join('\n')}\n` : ''}jobs:
  gate:
    # A label of your own runners.
    runs-on: docker
    timeout-minutes: 60
    steps:
      - uses: actions/checkout@v4
      - name: validate
        run: |
          # Replace these two lines by the command that proves a tree good, such as: make test
          echo 'the gate has no validation command yet' >&2
          exit 1
`;
}
