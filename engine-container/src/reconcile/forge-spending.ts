import type { BatchId, RepoId } from '#core/domain/ids.ts';
import type { NodeRow } from '#core/domain/queue/batch.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import type { Batch } from '../queue/record/record.ts';
import { toNodeRow } from '../queue/told/rows.ts';
import type { ReconcileFigures } from './reconcile-figures.ts';

interface Spent {
  readonly calls: number;
  readonly bytes: number;
}

const NOTHING: Spent = { calls: 0, bytes: 0 };
const ROOT = 'r';

/**
 * Costs of the batches in flight on the forge, by repository, for as long as the engine lives: a poll that changes nothing
 * writes nothing, so the queue record cannot hold it. Of a batch that another engine began nothing is known.
 */
export class ForgeSpending {
  readonly #repos = new Map<RepoId, ReadonlyMap<BatchId, Spent>>();

  open(repo: RepoId, figures: Pick<ReconcileFigures, 'countCall'>): ReconcileSpending {
    return new ReconcileSpending(figures, this.#repos.get(repo) ?? new Map(), (known) => {
      if (known.size === 0) this.#repos.delete(repo);
      else this.#repos.set(repo, known);
    });
  }
}

/** The calls of one reconcile. All of them are for the batch that is ahead: each other waits for that one. */
export class ReconcileSpending {
  readonly #known: Map<BatchId, Spent>;
  readonly #figures: Pick<ReconcileFigures, 'countCall'>;
  readonly #keep: (known: ReadonlyMap<BatchId, Spent>) => void;
  readonly #unknown = new Set<BatchId>();
  #calls = 0;
  #bytes = 0;

  constructor(
    figures: Pick<ReconcileFigures, 'countCall'>,
    known: ReadonlyMap<BatchId, Spent>,
    keep: (known: ReadonlyMap<BatchId, Spent>) => void,
  ) {
    this.#figures = figures;
    this.#known = new Map(known);
    this.#keep = keep;
  }

  /** @param bytes - that are sent with it */
  readonly onCall = (bytes: number): void => {
    this.#figures.countCall();
    this.#calls += 1;
    this.#bytes += bytes;
  };

  readonly onAnswer = (bytes: number): void => {
    this.#bytes += bytes;
  };

  /** A record that was loaded: of its batches those are unknown that this engine has not seen begin. */
  see(batches: readonly Batch[]): void {
    for (const { batchId } of batches) if (!this.#known.has(batchId)) this.#unknown.add(batchId);
  }

  /** Gives what was spent since the last time to the batch that is ahead. The rows of batches that ended tell their sum. */
  settle(ended: readonly Batch[], inFlight: readonly Batch[]): void {
    const [ahead] = [...ended, ...inFlight];
    if (ahead !== undefined && !this.#unknown.has(ahead.batchId)) {
      const { calls, bytes } = this.#known.get(ahead.batchId) ?? NOTHING;
      this.#known.set(ahead.batchId, { calls: calls + this.#calls, bytes: bytes + this.#bytes });
    }
    this.#calls = 0;
    this.#bytes = 0;
    for (const { batchId } of inFlight)
      if (!this.#unknown.has(batchId) && !this.#known.has(batchId)) this.#known.set(batchId, NOTHING);
  }

  /** The rows to write with the sum of each batch that has ended, in the row of its root, which may have been written before. */
  tell(repo: ManagedRepo, rows: readonly NodeRow[], ended: readonly Batch[]): NodeRow[] {
    const told: NodeRow[] = [];
    for (const batch of ended) {
      const spent = this.#known.get(batch.batchId);
      const root = batch.nodes.find(({ nodeId }) => nodeId === ROOT);
      if (spent === undefined || root === undefined || root.stagedAt === null || root.resolvedAt === null)
        continue;
      told.push({ ...toNodeRow(repo, batch, root), forgeCalls: spent.calls, forgeBytes: spent.bytes });
    }
    return [...rows.filter(({ id }) => !told.some((row) => row.id === id)), ...told];
  }

  close(inFlight: readonly Batch[]): void {
    this.settle([], inFlight);
    const left = new Set(inFlight.map(({ batchId }) => batchId));
    this.#keep(new Map([...this.#known].filter(([batchId]) => left.has(batchId))));
  }
}
