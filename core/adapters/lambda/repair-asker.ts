import { InvokeCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import { writeRepairRequest } from '../../contracts/repair.ts';
import type { RepairAsker } from '../../ports/repair.ts';

/** The function is not waited for: the next look sees what came of it. */
export function createRepairAsker(client: LambdaClient, functionName: string): RepairAsker {
  return {
    async ask(repoId) {
      await client.send(
        new InvokeCommand({
          FunctionName: functionName,
          InvocationType: 'Event',
          Payload: Buffer.from(writeRepairRequest(repoId)),
        }),
      );
    },
  };
}
