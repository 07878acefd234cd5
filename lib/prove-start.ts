/**
 * How long a start may take: 20 to 60 seconds by published measurements, and longer for an image that is pulled for the
 * first time.
 */
const START_MS_MAX = 4 * 60_000;
const ASK_EVERY_MS = 20_000;

export interface StartDeps {
  /** GET of an address: the status of the answer, or null where none came. */
  readonly ask: (url: string) => Promise<number | null>;
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
}

export interface StartProof {
  readonly started: boolean;
  /** Whether any answer came from the address. False: nothing is known of the engine. */
  readonly answered: boolean;
  readonly seconds: number;
}

/**
 * Whether the engine that was just deployed answers. The question wakes it. A deployment starts no task of an engine
 * that sleeps, so CloudFormation reports success also for an image or a secret with which no task would start.
 */
export async function proveStart(deps: StartDeps, baseUrl: string): Promise<StartProof> {
  const began = deps.now();
  let answered = false;
  for (;;) {
    const status = await deps.ask(`${baseUrl}/api/container-health`);
    answered ||= status !== null;
    const passed = deps.now() - began;
    const seconds = Math.round(passed / 1000);
    if (status === 200) return { started: true, answered, seconds };
    if (passed + ASK_EVERY_MS > START_MS_MAX) return { started: false, answered, seconds };
    await deps.sleep(ASK_EVERY_MS);
  }
}

/** The result in one sentence, for the person who has deployed. */
export function describeStart({ started, answered, seconds }: StartProof, baseUrl: string): string {
  if (started) return `the engine answered after ${seconds} s`;
  if (!answered)
    return `${baseUrl} does not answer yet, so the start of the engine is not proven. Without hostedZoneId, point the name of domainName at the output DistributionDomainName; then npx tsx bin/prove-start.ts asks again (docs/operate.md, Configuration)`;
  return `the engine did not answer within ${seconds} s, so the queues stand still. aws ecs describe-services says why no task starts, its log group what a task says; deploy the release before again, or repair this one (docs/operate.md, Upgrade and roll back)`;
}
