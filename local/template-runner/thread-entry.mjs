// Runs one function bundle in a worker thread, one invocation at a time, as a Lambda instance does.
import { pathToFileURL } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';

const loaded = import(pathToFileURL(workerData.file).href);
// A bundle that cannot be loaded says so in the answer to its first invocation.
const tellReady = () => parentPort.postMessage({ ready: true });
loaded.then(tellReady, tellReady);

parentPort.on('message', async ({ id, event, requestId, deadline }) => {
  const context = {
    awsRequestId: requestId,
    functionName: workerData.name,
    functionVersion: '$LATEST',
    invokedFunctionArn: workerData.arn,
    memoryLimitInMB: String(workerData.memoryMb),
    getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
  };
  try {
    const { handler } = await loaded;
    const result = await handler(event, context);
    parentPort.postMessage({ id, ok: true, result: result === undefined ? null : result });
  } catch (error) {
    const name = error instanceof Error ? error.name : 'Error';
    const message = error instanceof Error ? error.message : String(error);
    parentPort.postMessage({ id, ok: false, error: { name, message } });
  }
});
