import type { PullRequestNumber, RepoId } from '../../../domain/ids.ts';
import type { LeftHead, LeftHeads, Obligations } from '../../../domain/queue/obligations.ts';
import type { Table } from '../table/table.ts';
import {
  type Codec,
  defaulted,
  flag,
  listOf,
  optional,
  type RowCodec,
  record,
  text,
  whole,
} from './codec.ts';
import { queueViewKey } from './keys.ts';
import { queueView } from './queue-view.ts';
import { readRow } from './read-row.ts';

const head = record<LeftHead>({
  pr: ['pr', whole],
  head: ['head', text],
  isMereWord: ['mere_word', optional(flag) as Codec<true>],
});
export const leftHeads = record<LeftHeads>({
  context: ['context', text],
  prs: ['prs', listOf(whole)],
  heads: ['heads', listOf(head)],
});

/** Obligations share the row of the queue view, so both are stored in one step. Names of attributes are of earlier versions. */
interface StoredObligations extends Omit<Obligations, 'inFlight' | 'left'> {
  /**
   * Pull requests in flight; absent in rows from before this attribute, where the queue view of the same row has them.
   */
  readonly inFlight?: Obligations['inFlight'];
  readonly left?: LeftHeads;
}
const stored = record<StoredObligations>({
  at: ['at', whole],
  open: ['afoot', defaulted(flag, false)],
  successStands: ['standing', defaulted(flag, false)],
  inFlight: ['in_flight', optional(listOf(whole)) as Codec<Obligations['inFlight']>],
  // Rows of before it was told: the engine looks, and tells it.
  atRest: ['at_rest', defaulted(flag, false)],
  left: ['owed', optional(leftHeads) as Codec<LeftHeads>],
  repoId: ['forge_repo_id', optional(whole) as Codec<number>],
});

export const obligations: RowCodec<Obligations> = {
  write: ({ left, ...rest }) => stored.write(left === null ? rest : { ...rest, left }),
  read: (row) => {
    const { inFlight, left, ...rest } = stored.read(row);
    return { ...rest, inFlight: inFlight ?? readShownInFlight(row), left: left ?? null };
  },
};

function readShownInFlight(row: unknown): readonly PullRequestNumber[] {
  const { places, block } = queueView.read(row);
  const shown = places.filter(({ state }) => state === 'landing' || state === 'staged').map(({ pr }) => pr);
  // A pull request may have left the queue while its success is being taken back.
  const landing = block.kind === 'merge' || block.kind === 'revoke' ? block.pr : null;
  return [...new Set([...shown, ...(landing === null ? [] : [landing])])];
}

export async function readObligations(table: Table, repoId: RepoId): Promise<Obligations | null> {
  const row = await table.get(queueViewKey(repoId), 'readObligations');
  return row === null ? null : readRow(obligations, row, 'readObligations');
}
