import { InvokeCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import { writeBackportRequest } from '../../contracts/repair.ts';
import type { BackportAsker } from '../../ports/backport.ts';

/** The function is not waited for: a landing that it does not carry is asked for again after the next look. */
export function createBackportAsker(client: LambdaClient, functionName: string): BackportAsker {
  return {
    async ask(repoId) {
      await client.send(
        new InvokeCommand({
          FunctionName: functionName,
          InvocationType: 'Event',
          Payload: Buffer.from(writeBackportRequest(repoId)),
        }),
      );
    },
  };
}
