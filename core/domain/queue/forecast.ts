/** Facts about a pull request that are known before a gate run. */
export const SIGNALS = ['ci_failed', 'ci_passed', 'bounced_before', 'of_bot', 'from_fork'] as const;
export type Signal = (typeof SIGNALS)[number];

/** A chance that was not the usual one, told beside a pull request. It sizes batches and places cuts, and judges nothing. */
export interface ToldForecast {
  /** Chances to fail at the gate, in percent. */
  readonly percent: number;
  readonly usualPercent: number;
  /** The signals that moved it, the strongest first; at least one. */
  readonly because: readonly Signal[];
}

const WORDS: Readonly<Record<Signal, string>> = {
  ci_failed: 'its own CI failed on this head',
  ci_passed: 'its own CI passed on this head',
  bounced_before: 'it was bounced before',
  of_bot: 'its author is a bot of this queue',
  from_fork: 'it comes from a fork',
};

/** One sentence. */
export function sayForecast({ percent, usualPercent, because }: ToldForecast): string {
  const why = because.map((signal) => WORDS[signal]).join(' and ');
  return `It fails at the gate with an estimated chance of ${percent} % (usual here: ${usualPercent} %), because ${why}. The estimate sizes batches and judges nothing.`;
}
