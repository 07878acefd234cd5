import {
  BACKPORT_RESULTS,
  type Backport,
  type BackportedPull,
  type BackportResult,
  type BackportTry,
} from '../../../domain/pulls/backport.ts';
import { type Codec, flag, listOf, nullable, optional, record, text, whole } from './codec.ts';

/**
 * The words of the release that first carried landings. It refuses a whole row of a repository for any other word, so a later
 * result is stored as `STORED_AS`, with the exact one in an attribute of its own, which that release takes no notice of.
 */
const FIRST_RESULTS: readonly BackportResult[] = [
  'opened',
  'conflict',
  'nothing_left',
  'no_branch',
  'same_branch',
  'name_taken',
];
const STORED_AS = 'conflict' satisfies BackportResult;

interface StoredBackport extends Omit<Backport, 'result'> {
  readonly result: string;
  /** The exact result; absent: `result` is exact. */
  readonly exactResult: string | undefined;
}

const stored = record<StoredBackport>({
  branch: ['branch', text],
  result: ['result', text],
  exactResult: ['exact_result', optional(text)],
  pull: ['pull', nullable(whole)],
});

const isKnown = (result: string | undefined): result is BackportResult =>
  BACKPORT_RESULTS.some((known) => known === result);

/** Result of a stored backport. A word that this release does not know leaves the row readable. */
function resultOf({ exactResult, result }: StoredBackport): BackportResult {
  if (isKnown(exactResult)) return exactResult;
  return isKnown(result) ? result : STORED_AS;
}

const backport: Codec<Backport> = {
  write: ({ branch, result, pull }) => {
    const isFirst = FIRST_RESULTS.includes(result);
    return stored.write({
      branch,
      result: isFirst ? result : STORED_AS,
      exactResult: isFirst ? undefined : result,
      pull,
    });
  },
  read: (raw) => {
    const row = stored.read(raw);
    return { branch: row.branch, result: resultOf(row), pull: row.pull };
  },
};

export const backportedPull = record<BackportedPull>({
  pr: ['pr', whole],
  landedAt: ['landed_at', whole],
  backports: ['backports', listOf(backport)],
});

export const backportTry = record<BackportTry>({
  pr: ['pr', whole],
  at: ['at', whole],
  isLast: ['is_last', flag],
});
