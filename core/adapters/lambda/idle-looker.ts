import { InvokeCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import { readLookAnswer, writeLookRequest } from '../../contracts/idle-look.ts';
import { LOOK_TIMEOUT_MS } from '../../domain/limits.ts';
import type { IdleLooker } from '../../ports/idle-look.ts';

export interface IdleLookerConfig {
  readonly client: LambdaClient;
  readonly functionName: string;
}

/** The idle look as a function of its own, outside the network: forges are reached from there over IPv4 too. */
export function createIdleLooker({ client, functionName }: IdleLookerConfig): IdleLooker {
  return {
    async look(request) {
      const answer = await client.send(
        new InvokeCommand({ FunctionName: functionName, Payload: Buffer.from(writeLookRequest(request)) }),
        { abortSignal: AbortSignal.timeout(LOOK_TIMEOUT_MS) },
      );
      if (answer.FunctionError !== undefined) throw new Error('the idle look failed');
      const read = readLookAnswer(JSON.parse(Buffer.from(answer.Payload ?? []).toString('utf8')));
      if (read === null) throw new Error('the idle look answered something else');
      return read;
    },
  };
}
