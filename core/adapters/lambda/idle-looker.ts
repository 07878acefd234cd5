import { InvokeCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import {
  readGlanceAnswer,
  readLookAnswer,
  writeGlanceRequest,
  writeLookRequest,
} from '../../contracts/internal/idle-look.ts';
import { GLANCE_TIMEOUT_MS, LOOK_TIMEOUT_MS } from '../../domain/limits.ts';
import type { IdleLooker } from '../../ports/idle-look.ts';

export interface IdleLookerConfig {
  readonly client: LambdaClient;
  readonly functionName: string;
}

/** Calls the function of idle looks, which is outside the network, where IPv4 forges can be reached. */
export function createIdleLooker({ client, functionName }: IdleLookerConfig): IdleLooker {
  const invoke = async (payload: string, timeoutMs: number): Promise<unknown> => {
    const answer = await client.send(
      new InvokeCommand({ FunctionName: functionName, Payload: Buffer.from(payload) }),
      { abortSignal: AbortSignal.timeout(timeoutMs) },
    );
    if (answer.FunctionError !== undefined) throw new Error('the idle look failed');
    return JSON.parse(Buffer.from(answer.Payload ?? []).toString('utf8'));
  };
  return {
    async look(request) {
      const read = readLookAnswer(await invoke(writeLookRequest(request), LOOK_TIMEOUT_MS));
      if (read === null) throw new Error('the idle look answered something else');
      return read;
    },

    async glance(request) {
      const read = readGlanceAnswer(await invoke(writeGlanceRequest(request), GLANCE_TIMEOUT_MS));
      if (read === null) throw new Error('the glance was answered by something else');
      return read;
    },
  };
}
