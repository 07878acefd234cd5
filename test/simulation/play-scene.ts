import { Worker } from 'node:worker_threads';
import { bundleProgram, type Mutation } from './bundle.ts';
import type { SceneName } from './scenes.ts';

/** A thread of its own that plays one scene after the other: the sandbox of a test costs half of their speed. */
export interface SceneThread {
  /** The faults of the engine; empty when there are none. */
  play(name: SceneName): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** With these changes of the engine. */
export async function openScenes(mutations: readonly Mutation[] = []): Promise<SceneThread> {
  const program = await bundleProgram('test/simulation/scenes.worker.ts', mutations);
  const thread = new Worker(program, { eval: true });
  return {
    play: (name) =>
      new Promise((resolve, reject) => {
        thread.once('message', resolve);
        thread.once('error', reject);
        thread.postMessage(name);
      }),
    close: async () => {
      await thread.terminate();
    },
  };
}

/** The faults of the engine with these changes in a scene; empty when there are none. */
export async function playScene(mutations: readonly Mutation[], name: SceneName): Promise<readonly string[]> {
  const scenes = await openScenes(mutations);
  try {
    return await scenes.play(name);
  } finally {
    await scenes.close();
  }
}
