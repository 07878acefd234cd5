// The package exports neither its store class nor anything to `require`; its files are reached by their path instead.

import { buildApp } from '../../node_modules/fauxqs/dist/app.js';
import { S3Store } from '../../node_modules/fauxqs/dist/s3/s3Store.js';
import { SnsStore } from '../../node_modules/fauxqs/dist/sns/snsStore.js';
import { SqsStore } from '../../node_modules/fauxqs/dist/sqs/sqsStore.js';
import type { Emulator } from './dynamo.ts';

export interface SqsOptions {
  /** @default a free one */
  readonly port?: number;
}

/** SQS in this process, on loopback only, in memory: queues and messages are gone at the end, and ticks make new wakes. */
export async function startSqs(options: SqsOptions = {}): Promise<Emulator> {
  const sqsStore = new SqsStore();
  // With a host of its own the store names queues `sqs.<region>.localhost`, which does not resolve everywhere; without
  // one a queue's URL is the address that the client called.
  Reflect.set(sqsStore, 'host', undefined);
  const app = buildApp({
    logger: false,
    stores: { sqsStore, snsStore: new SnsStore(), s3Store: new S3Store() },
  });
  const endpoint = await app.listen({ host: '127.0.0.1', port: options.port ?? 0 });
  return {
    endpoint,
    stop: async () => {
      await app.close();
    },
  };
}
