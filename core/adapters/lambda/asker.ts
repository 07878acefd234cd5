import { InvokeCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import type { RepoId } from '../../domain/ids.ts';

/**
 * Asks a function for work on a repository, in the words that it reads. The function is not waited for: what it does not do is
 * asked for again after the next look.
 */
export function createAsker(
  client: LambdaClient,
  functionName: string,
  write: (repoId: RepoId) => string,
): { ask(repoId: RepoId): Promise<void> } {
  return {
    async ask(repoId) {
      await client.send(
        new InvokeCommand({
          FunctionName: functionName,
          InvocationType: 'Event',
          Payload: Buffer.from(write(repoId)),
        }),
      );
    },
  };
}
