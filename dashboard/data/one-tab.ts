const LOCK = 'mergeyard.renew';
/** The message of the tab before has arrived by then. */
const TOLD_WITHIN_MS = 100;

/** Runs alone among the tabs of this browser, once their messages have arrived here. */
export async function oneTabAtATime(run: () => Promise<void>): Promise<void> {
  // Only pages that were sent safely have locks.
  if (!('locks' in navigator)) return run();
  const others = await navigator.locks.query();
  const isContended = others.held?.some(({ name }) => name === LOCK) === true;
  await navigator.locks.request(LOCK, async () => {
    if (isContended) await new Promise((done) => setTimeout(done, TOLD_WITHIN_MS));
    await run();
  });
}
