import { Worker } from 'node:worker_threads';
import { bundleProgram, type Mutation } from './bundle.ts';
import type { SceneName } from './scenes.ts';

/** The faults of the engine with these changes in a scene; empty when there are none. */
export async function playScene(mutations: readonly Mutation[], name: SceneName): Promise<readonly string[]> {
  const program = await bundleProgram('test/simulation/scenes.worker.ts', mutations);
  const thread = new Worker(program, { eval: true });
  try {
    return await new Promise((resolve, reject) => {
      thread.on('message', resolve);
      thread.on('error', reject);
      thread.postMessage(name);
    });
  } finally {
    await thread.terminate();
  }
}
