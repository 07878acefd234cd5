import type { ForgeControl, GateJudgement } from './control.ts';

/**
 * Names that make the local forge fail, so that a person can see every error, hold and unknown in the dashboard without
 * touching code. They are typed into the real forms: a file in a pull request, a name of a repository.
 */
const VERDICT_OF_FILE: Readonly<Record<string, GateJudgement>> = {
  broken: 'failure',
  'sentinel/fails': 'failure',
  'sentinel/is-cancelled': 'cancelled',
  'sentinel/breaks-down': 'error',
  'sentinel/never-starts': 'never',
  'sentinel/hangs': 'hold',
};

/** The verdict of a gate run on a tree with such a file. */
export const judgeBySentinel: ForgeControl['judge'] = (files) => {
  for (const [path, verdict] of Object.entries(VERDICT_OF_FILE)) if (files.has(path)) return verdict;
  return 'success';
};

const ADMIN_CALLS = /\/(hooks|branch_protections)(\/|\?|$)/;

/** The answer of the API of a repository with such a name. */
export const faultBySentinel: ForgeControl['fault'] = ({ path }) => {
  const name = /\/repos\/[^/]+\/sentinel-([a-z-]+)(?=[/?]|$)/.exec(path)?.[1];
  switch (name) {
    case 'unreachable':
      return { status: 503 };
    case 'denied':
      return { status: 403 };
    case 'garbage':
      return { status: 200, html: true };
    case 'no-admin':
      return ADMIN_CALLS.test(path) ? { status: 403 } : null;
    case 'flaky-admin':
      return ADMIN_CALLS.test(path) ? { status: 500 } : null;
    default:
      return null;
  }
};
