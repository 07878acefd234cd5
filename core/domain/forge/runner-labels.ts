/** `runs-on` of one job, as far as it is told and kept. */
export const RUNNER_LABELS_MAX = 5;
export const RUNNER_LABEL_CHARS_MAX = 50;

/** `a runner with the label "gpu"`, and `a runner` where none is known. */
export function sayRunner(labels: readonly string[]): string {
  const named = labels.map((label) => `"${label}"`);
  const last = named.at(-1);
  if (last === undefined) return 'a runner';
  if (named.length === 1) return `a runner with the label ${last}`;
  return `a runner with the labels ${named.slice(0, -1).join(', ')} and ${last}`;
}
