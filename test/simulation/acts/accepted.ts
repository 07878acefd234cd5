/** A finding that stands: known, of no harm, and dearer to mend than it is worth. */
export interface Accepted {
  /** The story, where it is of one alone. */
  readonly story?: string;
  readonly act: RegExp;
  readonly says: RegExp;
  readonly why: string;
}

export const ACCEPTED: readonly Accepted[] = [];

export function findAccepted(story: string, act: string, violation: string): Accepted | undefined {
  return ACCEPTED.find(
    (each) =>
      (each.story === undefined || each.story === story) && each.act.test(act) && each.says.test(violation),
  );
}
