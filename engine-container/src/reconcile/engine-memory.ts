import { randomUUID } from 'node:crypto';
import type { CommitSha, RepoId, TreeHash } from '#core/domain/ids.ts';
import { DIRECTORY_MEMORY_ENTRIES_MAX } from '#core/domain/limits.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { hostOf } from '#core/domain/wakes/fairness.ts';
import type { ChangedCommit } from '#core/ports/forge.ts';
import { TimelineMemory } from '../reading/read-timelines.ts';
import type { PatrolMemory } from '../reading/status-patrol.ts';
import { ContentPlaces, type TakePlace } from '../staging/content-places.ts';
import type { Directory } from '../staging/objects.ts';
import type { RecordMemory } from '../stored-record/record-keeper.ts';
import { ToldAlarms } from './told-alarms.ts';

/** By head: the commits that the base had beyond it when it was last asked for. */
export type BaseSides = Map<
  CommitSha,
  { readonly base: CommitSha; readonly commits: readonly ChangedCommit[] }
>;

/**
 * The memory of one repository between reconciles. Of its trees names, modes and ids, never contents: they are immutable and
 * checked against their ids, so one reconcile that ran out of time while reading leaves the next less to read.
 */
export class RepoDirectories {
  readonly directories = new Map<TreeHash, Directory | 'unsayable'>();
  readonly trees = new Map<CommitSha, TreeHash>();
  /** Paths whose directory does not fit into one answer of the forge with all that is below. */
  readonly large = new Set<string>();
  readonly baseSides: BaseSides = new Map();
  /** Of changes that were compared, by the two commits or trees of each: equal for the same patch; null: not to be told. */
  readonly patches = new Map<string, string | null>();
  /**
   * `slowUntil`: patches are taken to be slow until then, epoch ms. `isGivenUp`: the latest slow one got no answer.
   * `fileFailures`: so often in a row files in the place of a patch failed. `isKnown`: measured, or taken from the record.
   */
  readonly patchPace = { slowUntil: 0, isGivenUp: false, fileFailures: 0, isKnown: false };
  readonly timelines = new TimelineMemory();
  /** Which statuses were read in turn. */
  readonly patrol: PatrolMemory = { doneTurn: null };
  #entries = 0;

  /** `takePlace`: among the merges with large contents of all repositories of the process. @default this one is alone */
  constructor(readonly takePlace: TakePlace = new ContentPlaces().of('')) {}

  get size(): number {
    const listed = [...this.baseSides.values()].reduce((sum, { commits }) => sum + commits.length, 0);
    return this.#entries + this.trees.size + this.patches.size + this.timelines.size + listed;
  }

  put(id: TreeHash, directory: Directory | 'unsayable'): void {
    if (this.directories.has(id)) return;
    this.directories.set(id, directory);
    this.#entries += 1 + directory.length;
  }
}

/** The memory of one process. Trees are bounded: of the repositories that were not looked at for longest all are forgotten. */
export class EngineMemory {
  /** Tells this process from any other. */
  readonly engine: string = randomUUID();
  readonly alarms = new ToldAlarms();
  readonly #repos = new Map<RepoId, RepoDirectories>();
  readonly #records = new Map<RepoId, RecordMemory>();
  readonly #contentPlaces = new ContentPlaces();

  /** Never forgotten, as small as it is: a record that is taken for another's has each open head read anew. */
  recordOf(repo: RepoId): RecordMemory {
    const record = this.#records.get(repo) ?? { isOwn: false };
    this.#records.set(repo, record);
    return record;
  }

  /** By repository, not by forge: one tenant's token never reads what another's has read. */
  open({ id: repo, instanceUrl }: Pick<ManagedRepo, 'id' | 'instanceUrl'>): RepoDirectories {
    const known = this.#repos.get(repo);
    this.#repos.delete(repo);
    // A repository that alone fills the memory starts over, at most once per reconcile.
    const opened =
      known === undefined || known.size > DIRECTORY_MEMORY_ENTRIES_MAX
        ? new RepoDirectories(this.#contentPlaces.of(hostOf(instanceUrl)))
        : known;
    this.#repos.set(repo, opened);
    let total = [...this.#repos.values()].reduce((sum, { size }) => sum + size, 0);
    for (const [other, { size }] of this.#repos) {
      if (total <= DIRECTORY_MEMORY_ENTRIES_MAX || other === repo) break;
      this.#repos.delete(other);
      total -= size;
    }
    return opened;
  }
}
