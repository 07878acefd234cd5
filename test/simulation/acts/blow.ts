import type { EngineForge } from '#core/ports/forge.ts';
import { wrapForge } from '../../scenario/hooks.ts';
import type { Timers } from '../../support/virtual-clock.ts';
import type { Moment, Play, Tell } from './story.ts';

/** The forge takes as long to hear of a call, and to answer it. */
const WAY_MS = 20;
const WRITES = /^(postStatus|applyPatch|writeFiles|createBranch|deleteBranch|cancelGateRun|probeSchedule)/;

export const isWrite = (call: string): boolean => WRITES.test(call);

interface BlowDeps {
  readonly clock: Pick<Timers, 'now' | 'after'>;
  readonly pass: (ms: number) => Promise<void>;
  readonly tell: Tell;
}

/** Counts the calls of the engine, and does the act at its call. */
export class Blow {
  readonly calls: string[] = [];
  doneAt: number | null = null;
  /** What the forge answered to an act that it did not take. */
  refusal = '';
  readonly #moment: Moment | null;
  readonly #deps: BlowDeps;
  #play: Play | null = null;
  #hasActed = false;

  constructor(moment: Moment | null, deps: BlowDeps) {
    this.#moment = moment;
    this.#deps = deps;
  }

  get hasActed(): boolean {
    return this.#hasActed;
  }

  /** Calls count from here. */
  begin(play: Play): void {
    this.#play = play;
  }

  wrap(forge: EngineForge): EngineForge {
    return wrapForge(async (name, args, answer) => {
      if (this.#play === null) return answer();
      const at = this.calls.length;
      const [subject, post] = args as readonly [unknown, { readonly state?: string } | undefined];
      const call = name === 'postStatus' ? `${name} ${post?.state}` : name;
      this.calls.push(call);
      if (this.#moment?.at === at && this.#moment.when === 'before') await this.#act();
      await this.#deps.pass(WAY_MS);
      this.#deps.tell(
        `      ${at} ${call} ${typeof subject === 'object' ? '' : String(subject).slice(0, 12)}`,
      );
      const answered = await answer();
      await this.#deps.pass(WAY_MS);
      if (this.#moment?.at === at && this.#moment.when === 'after') await this.#act();
      return answered;
    })(forge);
  }

  async #act(): Promise<void> {
    const play = this.#play;
    if (play === null || this.#moment === null || this.#hasActed) return;
    this.#hasActed = true;
    const { act, later, name } = this.#moment.act;
    this.#deps.tell(`ACT ${name}, on #${play.pr}`);
    await this.#try(act, play);
    if (later === undefined) {
      this.doneAt = this.#deps.clock.now();
      return;
    }
    const [afterMs, second] = later;
    const back = async () => {
      this.doneAt = this.#deps.clock.now();
      this.#deps.tell('ACT, its second half');
      await this.#try(second, play);
    };
    if (afterMs === 0) await back();
    else this.#deps.clock.after(afterMs, back);
  }

  async #try(act: (play: Play) => Promise<unknown>, play: Play): Promise<void> {
    try {
      await act(play);
    } catch (error) {
      this.refusal += ` refused: ${(error as Error).message}`;
      this.#deps.tell(this.refusal);
    }
  }
}
