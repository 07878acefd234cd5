import type { Commit } from '#core/domain/forge/forge.ts';
import type { TreeHash } from '#core/domain/ids.ts';
import { type EngineForge, type FileWrite, ForgeError, ReadNotBegun } from '#core/ports/forge.ts';
import type { Clock } from '#core/ports/system.ts';
import { readFiles } from './file-writes.ts';
import { renderPatch } from './patch.ts';
import type { PathChange } from './path-change.ts';
import { ReadingUnfinished, type RepoObjects } from './repo-objects.ts';

/** A patch that takes longer is slow: a batch of eight would outlast one reconcile. */
const SLOW_PATCH_MS = 3_000;
/** So long patches are taken to be slow after one that was, and after one that was given up, which costs the whole batch an attempt. */
const SLOW_KEPT_MS = 60 * 60_000;
const GIVEN_UP_KEPT_MS = 24 * 60 * 60_000;
/** Refusals of files after which the change is tried as a patch again. */
const FILE_REFUSALS_MAX = 2;

/** One commit to be made on `branch`. */
export interface ChangeRequest {
  /** Branch whose tip the commit stands on. */
  readonly branch: string;
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
  readonly clock: Pick<Clock, 'monotonic'>;
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

  /**
   * The change as whole files on a branch whose tree is `before`; null where a patch is better or the only way.
   * Throws `ReadingUnfinished` and `ReadNotBegun`.
   */
  async readFiles(before: TreeHash, changes: readonly PathChange[]): Promise<readonly FileWrite[] | null> {
    const { objects, clock } = this.#deps;
    const pace = objects.patchPace;
    const isSlow = clock.monotonic() < pace.slowUntil;
    if (!isSlow || pace.fileRefusals >= FILE_REFUSALS_MAX) return null;
    return objects.run(readFiles(objects, before, changes));
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

  /** Throws `ForgeError`. */
  async write({ files, changes, ...request }: ChangeRequest): Promise<Commit> {
    if (files !== null) return this.#writeFiles({ ...request, files });
    const patch = await renderPatch(changes, (id) => this.#deps.objects.contentOf(id));
    return this.#applyPatch({ ...request, patch });
  }

  async #writeFiles(request: Parameters<EngineForge['writeFiles']>[0]): Promise<Commit> {
    const { forge, objects } = this.#deps;
    const pace = objects.patchPace;
    try {
      const commit = await forge.writeFiles(request);
      pace.fileRefusals = 0;
      return commit;
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error;
      const told = await this.#readRefusal(error, request.branch);
      if (told.kind === 'rejected' || told.status === 500) pace.fileRefusals += 1;
      throw told;
    }
  }

  /** A file that is gone from the branch meanwhile is a 404, as a branch or a repository that is. An outage refuses nothing. */
  async #readRefusal(error: ForgeError, branch: string): Promise<ForgeError> {
    if (error.kind !== 'missing') return error;
    const tip = await this.#deps.forge.readBranchTip(branch);
    return tip === null ? error : new ForgeError('rejected', error.call, error.status);
  }

  async #applyPatch(request: Parameters<EngineForge['applyPatch']>[0]): Promise<Commit> {
    const { forge, objects, clock } = this.#deps;
    const pace = objects.patchPace;
    const startedAt = clock.monotonic();
    let isMade = false;
    try {
      const commit = await forge.applyPatch(request);
      isMade = true;
      return commit;
    } finally {
      const isSlow = clock.monotonic() - startedAt >= SLOW_PATCH_MS;
      // A refusal that comes at once says nothing of the pace.
      if (isSlow) pace.slowUntil = clock.monotonic() + (isMade ? SLOW_KEPT_MS : GIVEN_UP_KEPT_MS);
      else if (isMade) pace.slowUntil = 0;
      if (isSlow) pace.fileRefusals = 0;
    }
  }
}
