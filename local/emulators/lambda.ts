import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Emulator } from './dynamo.ts';
import { readText, startOnLoopback } from './loopback.ts';

/** A function that can be invoked by name. */
export interface InvocableByName {
  readonly name: string;
  invoke(payload: string): Promise<string>;
}

const PATH = /^\/2015-03-31\/functions\/([^/]+)\/invocations$/;

/** `Invoke` with an answer or without, on loopback. `find` is asked at each call: the functions are made after this. */
export async function startLambda(find: (name: string) => InvocableByName | undefined): Promise<Emulator> {
  return startOnLoopback((request, response) => answer(find, request, response));
}

async function answer(
  find: (name: string) => InvocableByName | undefined,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const send = (status: number, body: string, headers: Record<string, string> = {}): void => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
  };
  const payload = await readText(request);
  const name = PATH.exec(request.url ?? '')?.[1];
  const target = name === undefined ? undefined : find(decodeURIComponent(name));
  if (target === undefined) {
    return send(404, '{"Message":"not known here"}', { 'x-amzn-errortype': 'ResourceNotFoundException' });
  }
  if (request.headers['x-amz-invocation-type'] === 'Event') {
    // Not waited for; one that throws is tried twice more in AWS, and ends here.
    void target.invoke(payload).catch(() => undefined);
    return send(202, '');
  }
  try {
    send(200, await target.invoke(payload));
  } catch {
    send(200, '{"errorType":"Error"}', { 'x-amz-function-error': 'Unhandled' });
  }
}
