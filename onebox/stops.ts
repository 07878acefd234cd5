/** The ends of the parts of an installation, in the order in which the parts were begun. */
export type Stops = (() => Promise<void> | void)[];

/** Ends the newest first. */
export async function stopAll(stops: Stops): Promise<void> {
  for (const each of stops.splice(0).reverse()) await each();
}
