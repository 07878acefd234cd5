/** Asks until it is so; what is waited for happens in other processes, in real time. */
export async function eventually(
  what: string,
  withinMs: number,
  isSo: () => Promise<boolean>,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`${what}: not within ${withinMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
