/** A start takes 20 to 60 seconds by published measurements; an image that is pulled for the first time takes longer. */
const START_MS_MAX = 4 * 60_000;
const ASK_EVERY_MS = 20_000;

export interface StartDeps {
  /** Status of an answer, or null where none came. */
  readonly ask: (url: string) => Promise<number | null>;
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
}

/**
 * Whether the engine that was just deployed answers. A deployment that finds it asleep starts no task of it: CloudFormation
 * says that all is well about an image or a secret with which none would start. The question wakes it.
 */
export async function proveStart(
  deps: StartDeps,
  baseUrl: string,
): Promise<{ readonly started: boolean; readonly seconds: number }> {
  const began = deps.now();
  for (;;) {
    const status = await deps.ask(`${baseUrl}/api/container-health`);
    const passed = deps.now() - began;
    const seconds = Math.round(passed / 1000);
    if (status === 200) return { started: true, seconds };
    if (passed + ASK_EVERY_MS > START_MS_MAX) return { started: false, seconds };
    await deps.sleep(ASK_EVERY_MS);
  }
}
