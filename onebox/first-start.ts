import type { Finding } from './doctor.ts';

/** Address of the checks, for the page before the first sign-in. */
export const FIRST_START_PATH = '/setup/checks';
/** Visitors ask as often as they like; the forge is asked so often at most. */
const KEPT_MS = 5_000;

export interface FirstStartParts {
  readonly examine: () => Promise<readonly Finding[]>;
  /** From then on a stranger is told nothing. */
  readonly isSetUp: () => Promise<boolean>;
  readonly now: () => number;
}

/** The findings for every visitor, until a person has signed in here; null from then on. */
export function createFirstStart({ examine, isSetUp, now }: FirstStartParts) {
  let kept: { readonly at: number; readonly findings: Promise<readonly Finding[]> } | null = null;
  return async (): Promise<readonly Finding[] | null> => {
    if (await isSetUp()) return null;
    if (kept === null || now() - kept.at >= KEPT_MS) kept = { at: now(), findings: examine() };
    return kept.findings;
  };
}
