import { judgeGateStatuses, type StatusGate } from '#core/domain/forge/status-gate.ts';
import type { CommitSha, EpochMs, NodeRowId } from '#core/domain/ids.ts';
import { known, type Reading } from '#core/domain/result.ts';
import { type EngineForge, ForgeError, ReadNotBegun } from '#core/ports/forge.ts';
import type { Clock } from '#core/ports/system.ts';
import { BASE_NODE_ID, type Node, type QueueRecord } from '../queue/record/record.ts';
import type { GateView } from '../queue/snapshot.ts';
import type { TryRead } from './look-reads.ts';

/** A gate run that has not begun by then may never: its branch may have been deleted or moved before the forge got to it (E7). */
const BRANCH_LOOK_AGE_MS = 60_000;
/** A gate run that has waited for a runner for so long is asked once which labels its runner has to have. */
const RUNNER_LABELS_LOOK_AGE_MS = 60_000;

interface AwaitedGateRun {
  readonly sha: CommitSha;
  readonly branch: string;
  readonly stagedAt: EpochMs | null;
  readonly gateFile: string;
  readonly statusGate: StatusGate | undefined;
  /** The gate run that was seen. */
  readonly runKey: string | null;
}

/** Gate runs of the nodes that wait for one. */
export class GateReader {
  readonly #forge: EngineForge;
  readonly #clock: Clock;
  readonly #tryRead: TryRead;

  constructor(forge: EngineForge, clock: Clock, tryRead: TryRead) {
    this.#forge = forge;
    this.#clock = clock;
    this.#tryRead = tryRead;
  }

  async read(record: QueueRecord): Promise<ReadonlyMap<NodeRowId, Reading<GateView>>> {
    const gates = new Map<NodeRowId, Reading<GateView>>();
    for (const batch of record.batches) {
      for (const node of batch.nodes) {
        const { sha, branch, stagedAt, runKey } = node;
        const gateFile =
          node.nodeId === BASE_NODE_ID ? (batch.baseGateFile ?? batch.gateFile) : batch.gateFile;
        if (node.state !== 'gating' || sha === null || branch === null || gateFile === null) continue;
        const run = { sha, branch, stagedAt, gateFile, statusGate: batch.statusGate, runKey };
        const gate = await this.#tryRead(() => this.#readOne(run));
        gates.set(node.id, gate.known ? known(await this.#withLabels(gate.value, node)) : gate);
      }
    }
    return gates;
  }

  async #readOne(run: AwaitedGateRun): Promise<GateView> {
    const gate = await this.#readVerdict(run);
    const isLate = this.#clock.now() - (run.stagedAt ?? this.#clock.now()) >= BRANCH_LOOK_AGE_MS;
    if (gate.kind !== 'none' || !isLate) return gate;
    // Gitea lets each account that may write delete a run that has ended. Earlier, an old forge may have shown another one's run.
    if (run.runKey !== null && run.statusGate === undefined) return { ...gate, kind: 'run_gone' };
    // A person moved the branch before the forge got to our push of it, and back: no run of ours ever begins.
    if (gate.isOfOthers === true) return { ...gate, kind: 'run_gone' };
    return (await this.#forge.readBranchTip(run.branch)) === run.sha
      ? gate
      : { ...gate, kind: 'branch_gone' };
  }

  /** Asked once for a run that has waited for a while. Only words depend on it: a forge that fails here fails no look. */
  async #withLabels(gate: GateView, { stagedAt, runnerWait }: Node): Promise<GateView> {
    if (gate.kind !== 'running' || gate.waitsForRunner !== true) return gate;
    const waitedMs = this.#clock.now() - (stagedAt ?? this.#clock.now());
    if (runnerWait?.labels !== undefined || waitedMs < RUNNER_LABELS_LOOK_AGE_MS) return gate;
    try {
      return { ...gate, runnerLabels: await this.#forge.readRunnerLabels(gate.runId) };
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error;
      return error instanceof ReadNotBegun ? gate : { ...gate, runnerLabels: null };
    }
  }

  async #readVerdict({ sha, branch, gateFile, statusGate }: AwaitedGateRun): Promise<GateView> {
    if (statusGate === undefined) return this.#forge.readGate(sha, branch, gateFile, 'us');
    const history = await this.#forge.listStatusHistory(sha);
    const { gate, foreign, isOpenEnded, unanswered } = judgeGateStatuses(history, statusGate);
    return {
      ...gate,
      unanswered,
      ...(foreign === null ? {} : { foreign }),
      ...(isOpenEnded ? { isOpenEnded } : {}),
    };
  }
}
