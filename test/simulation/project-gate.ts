import type { AbstractForge } from '../fakes/abstract-forge/abstract-forge.ts';
import { judgeByContent } from '../scenario/stories.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import type { Odds } from './odds.ts';

/** A gate run waits for a runner for up to so long. */
const RUNNER_BUSY_MS = 20 * 60_000;
const LATE_MS_MAX = 2 * 3_600_000;

interface GateDeps {
  readonly forge: AbstractForge;
  readonly random: SeededRandom;
  readonly odds: () => Odds;
  readonly note: (line: string) => void;
  /** Where the forge reads the workflow of the gate from, and the text that it begins with. */
  readonly path: string;
  readonly file: string;
}

/** The runners and the merges of one repository: verdicts by what a tree holds, and the troubles that are drawn. */
export class ProjectGate {
  /** Gate runs were swallowed: only a person can set that going again (A20). */
  isStuck = false;
  readonly #deps: GateDeps;
  /** A run may never begin in this life, or never end. */
  readonly runnersFail: boolean;
  #durationMs = 0;

  constructor(deps: GateDeps) {
    this.#deps = deps;
    const { gateNever, gateLate } = deps.odds();
    this.runnersFail = gateNever > 0 || gateLate > 0;
  }

  /** How long a run takes. */
  get durationMs(): number {
    return this.#durationMs;
  }

  /** @param durationMs - How long a run takes where nothing is wrong. */
  begin(durationMs: number): void {
    const { forge } = this.#deps;
    this.#durationMs = durationMs;
    forge.judge = (files, run) => this.#judge(files, run);
    forge.mergeBehaviour = () => this.#drawMerge();
  }

  /** Said of the gate, and true: its head has none, or one that starts no run, or runners failed while it was tried. */
  async isToldOf(pr: number, words: string): Promise<boolean> {
    const gate = await this.#readGate(this.#deps.forge.headOf(pr));
    if (words.startsWith('refused: deletes, renames or hides the gate')) return gate === undefined;
    if (!words.includes('its changed workflow')) return false;
    // Where the base has another gate by now, the one that the project began with is a change as well.
    const isOfBase = gate === (await this.#readGate(await this.#deps.forge.tip(this.#deps.forge.base)));
    if (gate === this.#deps.file && isOfBase) return false;
    return this.runnersFail || gate?.endsWith(this.#deps.file) !== true;
  }

  async #readGate(commit: string): Promise<string | undefined> {
    return (await this.#deps.forge.readFiles(commit)).get(this.#deps.path);
  }

  /** The head has another gate than the project began with. */
  isEditedBy(pr: number): boolean {
    const { tree } = this.#deps.forge.commit(this.#deps.forge.headOf(pr));
    return this.#deps.forge.readTreeFiles(tree).get(this.#deps.path) !== this.#deps.file;
  }

  #drawMerge(): ReturnType<AbstractForge['mergeBehaviour']> {
    const { random } = this.#deps;
    const odds = this.#deps.odds();
    if (random.chance(odds.mergeLost)) return { kind: 'lost' };
    if (random.chance(odds.mergeSlow))
      return { kind: 'slow', ms: random.int(random.chance(0.1) ? 600_000 : 60_000) };
    return { kind: 'now' };
  }

  #judge(files: ReadonlyMap<string, string>, run: { readonly branch: string }) {
    const { forge, random, note } = this.#deps;
    const odds = this.#deps.odds();
    const truth = judgeByContent(files);
    forge.gateDurationMs = this.#durationMs;
    if (random.chance(odds.gateNever)) {
      this.isStuck = true;
      note(`no run on ${run.branch}`);
      return 'never' as const;
    }
    const waits = odds.runnerBusy > 0 && random.chance(odds.runnerBusy);
    forge.runners = odds.runners === 0 ? Number.POSITIVE_INFINITY : odds.runners;
    forge.runnerWaitMs = waits ? random.int(RUNNER_BUSY_MS) : 0;
    forge.runnerLabels = waits ? ['docker'] : null;
    if (random.chance(odds.gateLate)) forge.gateDurationMs = random.int(LATE_MS_MAX);
    if (random.chance(odds.gateTrouble)) return random.pick(['cancelled', 'error'] as const);
    if (truth === 'success' && random.chance(odds.flake)) {
      note(`flake on ${run.branch}`);
      return 'failure' as const;
    }
    return truth;
  }
}
