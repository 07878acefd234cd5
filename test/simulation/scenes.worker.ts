import { parentPort } from 'node:worker_threads';
import { SCENES, type SceneName } from './scenes.ts';

/** A thread that plays scenes and says what went wrong in them; an engine that throws has gone wrong. */
parentPort?.on('message', async (name: SceneName) => {
  try {
    parentPort?.postMessage(await SCENES[name]());
  } catch (error) {
    parentPort?.postMessage([error instanceof Error ? error.message : 'threw']);
  }
});
