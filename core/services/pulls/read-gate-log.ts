import { AppError } from '../../contracts/errors.ts';
import { type GateLogView, toGateLogView } from '../../contracts/pulls/gate-log.ts';
import { STORY_BATCHES_MAX, STORY_SCANNED_ROWS_MAX } from '../../domain/api-limits.ts';
import type { PullRequestNumber, TenantId } from '../../domain/ids.ts';
import { findGateRun, isGateByStatuses } from '../../domain/pulls/gate-log.ts';
import { ForgeError } from '../../ports/forge.ts';
import type { ForgeLog } from '../../ports/forge-log.ts';
import type { DispatchStore, EngineStore } from '../../ports/store.ts';
import { deniedCall, failedAs } from '../connections/denied.ts';
import type { OpenForge } from '../connections/open-forge.ts';
import { loadOwnRepo } from '../repos/owned.ts';

export interface GateLogDeps {
  readonly store: Pick<DispatchStore, 'getRepo'> & Pick<EngineStore, 'listOwnBatches'>;
  readonly openLog: OpenForge<ForgeLog>;
}

/**
 * The end of the log of the newest gate run of a pull request, read with the token of the bot where the forge gives it; else
 * the link and why. Throws `AppError`, `StoreError`.
 */
export async function readGateLog(
  { store, openLog }: GateLogDeps,
  tenantId: TenantId,
  id: string,
  number: PullRequestNumber,
): Promise<GateLogView> {
  const repo = await loadOwnRepo(store, tenantId, id);
  const rows = await store.listOwnBatches(repo, STORY_BATCHES_MAX, STORY_SCANNED_ROWS_MAX);
  const row = findGateRun(rows, number);
  const { runUrl = null, stagingSha = null } = row ?? {};
  if (runUrl === null || stagingSha === null) return toGateLogView(number, null, 'no_gate_run');
  if (isGateByStatuses(repo)) return toGateLogView(number, row, 'gate_by_statuses');
  const opened = await openLog(repo);
  if (opened.kind !== 'open') throw failedAs(opened.kind);
  try {
    const log = await opened.forge.readRunLog({ sha: stagingSha, url: runUrl });
    return toGateLogView(number, row, log.kind === 'jobs' ? log.jobs : log.kind);
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    if (error.kind === 'denied') throw deniedCall(error);
    throw new AppError('forge_unreachable');
  }
}
