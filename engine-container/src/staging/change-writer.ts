import type { Commit } from '#core/domain/forge/forge.ts';
import type { CommitSha, TreeHash } from '#core/domain/ids.ts';
import { type EngineForge, type FileWrite, ForgeError, ReadNotBegun } from '#core/ports/forge.ts';
import type { Clock } from '#core/ports/system.ts';
import { readFiles } from './file-writes.ts';
import { renderPatch } from './patch.ts';
import type { PathChange } from './path-change.ts';
import { ReadingUnfinished, type RepoObjects } from './repo-objects.ts';

/** A patch that takes longer is slow: a batch of eight would outlast one reconcile. */
const SLOW_PATCH_MS = 3_000;
/** For this time patches count as slow: after a slow one, and after one that was given up, which costs its batch an attempt. */
const SLOW_KEPT_MS = 60 * 60_000;
export const GIVEN_UP_PATCH_KEPT_MS = 24 * 60 * 60_000;
/** Failures of files in a row after which the change is tried as a patch again. */
const FILE_FAILURES_MAX = 2;

/** Raised where the branch has moved from where the plan began: blames no change. */
export class BranchMoved extends Error {
  override readonly name = 'BranchMoved';
  constructor() {
    super('the branch is not where the plan began');
  }
}

/** One commit to be made on `branch`. */
export interface ChangeRequest {
  /** Branch whose tip the commit stands on. */
  readonly branch: string;
  /** The tip that the change was planned on. */
  readonly parent: CommitSha;
  /** Branch to create with the commit; absent = move `branch`. */
  readonly newBranch?: string;
  readonly changes: readonly PathChange[];
  /** Whole files that make the same change, where patches are slow; null = send a patch. */
  readonly files: readonly FileWrite[] | null;
  readonly message: string;
}

export interface ChangeWriterDeps {
  readonly forge: EngineForge;
  readonly objects: RepoObjects;
  readonly clock: Pick<Clock, 'monotonic' | 'now'>;
}

/**
 * Makes commits from changes. A patch is one call and needs no contents, so it comes first. Some forges check all files of the
 * branch out for each patch, and none for files that are sent whole: where patches are slow, a small change of plain files is
 * sent so (forge facts, 6.2).
 */
export class ChangeWriter {
  readonly #deps: ChangeWriterDeps;

  constructor(deps: ChangeWriterDeps) {
    this.#deps = deps;
  }

  /** The latest patch was given up, and files say most changes: a change that needs a patch takes no others along. */
  get isPatchGivenUp(): boolean {
    return this.#sendsFiles && this.#deps.objects.patchPace.isGivenUp;
  }

  get #sendsFiles(): boolean {
    const { objects, clock } = this.#deps;
    const { slowUntil, fileFailures } = objects.patchPace;
    return clock.now() < slowUntil && fileFailures < FILE_FAILURES_MAX;
  }

  /**
   * The change as whole files on a branch whose tree is `before`; null where a patch is better or the only way.
   * Throws `ReadingUnfinished` and `ReadNotBegun`.
   */
  async readFiles(before: TreeHash, changes: readonly PathChange[]): Promise<readonly FileWrite[] | null> {
    const { objects } = this.#deps;
    if (!this.#sendsFiles) return null;
    try {
      return await objects.run(readFiles(objects, before, changes));
    } catch (error) {
      // Contents are not kept for the next reconcile: it may come no further.
      if (error instanceof ReadingUnfinished) objects.patchPace.fileFailures += 1;
      throw error;
    }
  }

  /** The same where nothing is left for a later look: without the time to read, null. */
  async readFilesInTime(
    before: TreeHash,
    changes: readonly PathChange[],
  ): Promise<readonly FileWrite[] | null> {
    try {
      return await this.readFiles(before, changes);
    } catch (error) {
      if (error instanceof ReadingUnfinished || error instanceof ReadNotBegun) return null;
      throw error;
    }
  }

  /** Throws `ForgeError` and `BranchMoved`. */
  async write({ files, changes, parent, ...request }: ChangeRequest): Promise<Commit> {
    if (files !== null) return this.#writeFiles({ ...request, files }, parent);
    const patch = await renderPatch(changes, (id) => this.#deps.objects.contentOf(id));
    return this.#applyPatch({ ...request, patch });
  }

  async #writeFiles(request: Parameters<EngineForge['writeFiles']>[0], parent: CommitSha): Promise<Commit> {
    const { forge, objects, clock } = this.#deps;
    const pace = objects.patchPace;
    const startedAt = clock.monotonic();
    try {
      const commit = await forge.writeFiles(request);
      pace.fileFailures = 0;
      return commit;
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error;
      const isSlow = clock.monotonic() - startedAt >= SLOW_PATCH_MS;
      const told = await this.#readRefusal(error, request.branch, parent);
      if (isSlow || isOfContents(told)) pace.fileFailures += 1;
      throw told;
    }
  }

  /**
   * The same statuses tell of a file that a push has changed (422, 409) or removed (404), of a new branch that exists (422), and of
   * a branch or repository that is gone (404). The tip of the branch tells them apart. Throws `BranchMoved`.
   */
  async #readRefusal(error: ForgeError, branch: string, parent: CommitSha): Promise<ForgeError> {
    if (error.kind !== 'missing' && error.kind !== 'rejected') return error;
    const tip = await this.#deps.forge.readBranchTip(branch);
    if (tip === null) return error;
    if (tip !== parent) throw new BranchMoved();
    return new ForgeError('rejected', error.call, error.status);
  }

  async #applyPatch(request: Parameters<EngineForge['applyPatch']>[0]): Promise<Commit> {
    const { forge, objects, clock } = this.#deps;
    const pace = objects.patchPace;
    const startedAt = clock.monotonic();
    let end: 'made' | 'refused' | 'given_up' = 'given_up';
    try {
      const commit = await forge.applyPatch(request);
      end = 'made';
      return commit;
    } catch (error) {
      if (error instanceof ForgeError && isAnswered(error)) end = 'refused';
      throw error;
    } finally {
      const tookMs = clock.monotonic() - startedAt;
      if (tookMs >= SLOW_PATCH_MS) {
        pace.slowUntil = clock.now() + (end === 'given_up' ? GIVEN_UP_PATCH_KEPT_MS : SLOW_KEPT_MS);
        pace.isGivenUp = end === 'given_up';
        pace.fileFailures = 0;
      }
      // A refusal that comes at once says nothing of the pace.
      else if (end === 'made') pace.slowUntil = 0;
    }
  }
}

/** By the forge itself, whose own fault is a bare 500. */
function isAnswered({ kind, status }: ForgeError): boolean {
  return kind !== 'unreachable' || status === 500;
}

/** An outage refuses nothing. A proxy answers with a page to a request that is too long for it, or that it suspects. */
function isOfContents({ kind, status }: ForgeError): boolean {
  const isPage = kind === 'unreachable' && status !== null && status >= 400 && status < 500;
  return kind === 'rejected' || status === 500 || isPage;
}
