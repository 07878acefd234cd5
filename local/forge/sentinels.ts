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

interface Sentinel {
  readonly fault: { readonly status: number; readonly html?: boolean };
  /** Hooks and branch rules alone. */
  readonly ofAdmin?: true;
}

const FAULT_OF_REPO: Readonly<Record<string, Sentinel>> = {
  'sentinel-no-admin': { fault: { status: 403 }, ofAdmin: true },
  'sentinel-flaky-admin': { fault: { status: 500 }, ofAdmin: true },
  'sentinel-denied': { fault: { status: 403 } },
  'sentinel-unreachable': { fault: { status: 503 } },
  'sentinel-garbage': { fault: { status: 200, html: true } },
};

/** The answer of the API of a repository with such a name. */
export const faultBySentinel: ForgeControl['fault'] = ({ path }) => {
  const name = /\/repos\/[^/]+\/(sentinel-[a-z-]+)(?=[/?]|$)/.exec(path)?.[1] ?? '';
  const sentinel = FAULT_OF_REPO[name];
  if (sentinel === undefined || (sentinel.ofAdmin === true && !ADMIN_CALLS.test(path))) return null;
  return sentinel.fault;
};

/** Every such name. */
export const SENTINEL_NAMES: readonly string[] = [
  ...Object.keys(VERDICT_OF_FILE),
  ...Object.keys(FAULT_OF_REPO),
];
