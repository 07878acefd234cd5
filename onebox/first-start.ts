import type { Finding } from './doctor.ts';

/** Address of the checks, for the page before the first sign-in. */
export const FIRST_START_PATH = '/setup/checks';
/** How long the findings are kept: visitors may ask at any rate, and the forge is not asked again meanwhile. */
const KEPT_MS = 5_000;

export interface FirstStartParts {
  readonly examine: () => Promise<readonly Finding[]>;
  /** Whether a person has signed in; from then on a stranger is shown nothing. */
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
