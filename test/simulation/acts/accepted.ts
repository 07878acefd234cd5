/** A finding that stands: known, of no harm, and dearer to mend than it is worth. */
export interface Accepted {
  /** The story, where it is of one alone. */
  readonly story?: string;
  readonly act: RegExp;
  readonly says: RegExp;
  readonly why: string;
}

export const ACCEPTED: readonly Accepted[] = [
  {
    act: /^context, and back/,
    says: /is merged, and its head says "not used: /,
    why: 'words under another context stand for themselves (decision 0376): its landing is told under the one that it landed by',
  },
  {
    act: /^pull request deleted$/,
    says: /is landing {2}on the page, and its head says "proven: |a success stands on/,
    why: 'of one that is gone the forge tells nothing: whether the base ends with its merge or with the same change of another is not known, so it is given the time of a landing and then told as deleted',
  },
];

export function findAccepted(story: string, act: string, violation: string): Accepted | undefined {
  return ACCEPTED.find(
    (each) =>
      (each.story === undefined || each.story === story) && each.act.test(act) && each.says.test(violation),
  );
}
