import { Worker } from 'node:worker_threads';
import { bundleProgram, type Mutation } from './bundle.ts';
import type { SceneName } from './scenes.ts';

export interface SceneThread {
  /** The faults of the engine in a scene, one scene at a time; empty when there are none. */
  play(name: SceneName): Promise<readonly string[]>;
  stop(): Promise<void>;
}

/** The engine with these changes in a thread of its own: the sandbox of a test costs half of its speed. */
export async function openSceneThread(mutations: readonly Mutation[] = []): Promise<SceneThread> {
  const program = await bundleProgram('test/simulation/scenes.worker.ts', mutations);
  const thread = new Worker(program, { eval: true });
  return {
    play: (name) =>
      new Promise((resolve, reject) => {
        thread.once('message', (faults) => {
          thread.off('error', reject);
          resolve(faults);
        });
        thread.once('error', reject);
        thread.postMessage(name);
      }),
    stop: async () => {
      await thread.terminate();
    },
  };
}

/** The faults of the engine with these changes in a scene; empty when there are none. */
export async function playScene(mutations: readonly Mutation[], name: SceneName): Promise<readonly string[]> {
  const thread = await openSceneThread(mutations);
  try {
    return await thread.play(name);
  } finally {
    await thread.stop();
  }
}
