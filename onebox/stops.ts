/** Functions that stop the parts of an installation, in the order in which the parts were started. */
export type Stops = (() => Promise<void> | void)[];

/** Stops all parts, the newest first. */
export async function stopAll(stops: Stops): Promise<void> {
  for (const each of stops.splice(0).reverse()) await each();
}
