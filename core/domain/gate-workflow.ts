/** Where staged batches are pushed; fixed whatever the queue is called (D-91). */
const STAGING_PATTERN = 'mq/**';

/** Name of the gate workflow file in the forge's workflow folder. */
export function gateFileName(queueName: string): string {
  return `${queueName}-gate.yaml`;
}

/** Names under which the engine finds the gate, best first. */
export function gateFileNames(queueName: string): readonly string[] {
  return [gateFileName(queueName), `${queueName}-gate.yml`];
}

/** Branch of the set-up pull request: outside `mq/**`, so that its push starts no gate (D-64). */
export function setupBranch(queueName: string): string {
  return `setup-${queueName}-gate`;
}

/** Probe branches of one base all begin so; they fall under the trigger of the template. */
export function probePrefix(queueName: string, base: string): string {
  return `${queueName}/${base}/verify-`;
}

/**
 * The workflow to copy: fails until its stub is replaced, may only read, posts no status (A8). Triggers on pushes of
 * staged batches and of probes (D-66), never on pull requests: their heads are not what lands.
 */
export function gateTemplate(queueName: string): string {
  const branches = [...new Set([STAGING_PATTERN, `${queueName}/**`])];
  return `# Gate of the merge queue: runs the whole suite once on each staged batch.
# Put it on the base branch as ${gateFileName(queueName)} in the folder your other workflows are in.
#
# It posts no commit status and needs no right to: the queue reads the result of the run itself.
# Keep the permissions at read. Once approved and staged, code of a fork runs here too.
# No "paths" filter: a push of a new branch has nothing to compare with and would start no run.
name: ${queueName}-gate

on:
  push:
    branches:
${branches.map((pattern) => `      - '${pattern}'`).join('\n')}

permissions:
  contents: read

jobs:
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
