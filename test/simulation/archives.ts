import type { SeededRandom } from '../support/seeded-random.ts';
import type { SimClock } from '../support/sim-clock.ts';
import type { Managed } from './managed.ts';
import type { Odds } from './odds.ts';
import type { Witness } from './service/hosts.ts';

/** What the base is called meanwhile. */
const OTHER_NAME = 'trunk';
const RENAMED_MS_MAX = 20 * 60_000;
const ARCHIVED_MS_MAX = 40 * 60_000;
/** Two ticks, and the looks that they lead to. */
const TOLD_WITHIN_MS = 12 * 60_000;
const MOVES_ON = /^(queued|staged|proven): /;
/** None of them strikes: the words on each head are those of the last look. */
const LOOKS_FAIL = ['callFails', 'callLate', 'crash', 'recordLostPerHour', 'settingsPerHour'] as const;

/** People archive a repository on the forge, and take it out of the archive after a while (decision 0287). */
export class Archives {
  readonly #clock: SimClock;
  readonly #random: SeededRandom;
  readonly #witness: Witness;
  readonly #looksFail: boolean;
  readonly #since = new Map<Managed, number>();
  readonly #renamed = new Set<Managed>();

  constructor(clock: SimClock, random: SeededRandom, witness: Witness, odds: Readonly<Odds>) {
    this.#clock = clock;
    this.#random = random;
    this.#witness = witness;
    this.#looksFail = LOOKS_FAIL.some((each) => odds[each] > 0);
  }

  /** People can do nothing with it: it is archived, or its base has another name. */
  isAway(managed: Managed): boolean {
    return managed.forge.isArchived() || this.#renamed.has(managed);
  }

  /** Its base is called otherwise for a while: pull requests and the rule go along, as on a real forge (decision 0293). */
  async rename(managed: Managed): Promise<void> {
    const ms = this.#random.int(RENAMED_MS_MAX);
    if (this.isAway(managed)) return;
    const { forge, id } = managed;
    this.#witness.note(`${id}: its base is renamed`);
    this.#witness.sometimes('base renamed');
    this.#renamed.add(managed);
    await forge.renameBranch(forge.base, OTHER_NAME);
    this.#clock.after(ms, () => this.renameBack(managed));
  }

  async renameBack(managed: Managed): Promise<void> {
    if (!this.#renamed.delete(managed)) return;
    const { forge, id } = managed;
    this.#witness.note(`${id}: its base has its name again`);
    await forge.renameBranch(OTHER_NAME, forge.base);
  }

  async archive(managed: Managed): Promise<void> {
    const { forge, id, watch } = managed;
    const ms = this.#random.int(ARCHIVED_MS_MAX);
    if (this.isAway(managed)) return;
    this.#witness.note(`${id} is archived`);
    this.#witness.sometimes('archived');
    forge.setArchived(true);
    this.#since.set(managed, this.#clock.now());
    watch?.archive(true);
    this.#clock.after(ms, () => this.unarchive(managed));
  }

  async unarchive(managed: Managed): Promise<void> {
    const { forge, id, watch } = managed;
    if (!forge.isArchived()) return;
    for (const what of await this.#listFaults(managed)) this.#witness.violate(`${id}: ${what}`);
    this.#witness.note(`${id} is archived no more`);
    forge.setArchived(false);
    watch?.archive(false);
  }

  /** Scheduled pull requests whose heads say that they move on, of an archive that lasted for some looks. */
  async #listFaults(managed: Managed): Promise<readonly string[]> {
    const { forge, project, contexts, deleted } = managed;
    const lastedMs = this.#clock.now() - (this.#since.get(managed) ?? 0);
    if (this.#looksFail || deleted || lastedMs < TOLD_WITHIN_MS) return [];
    this.#witness.sometimes('words in an archive judged');
    const faults: string[] = [];
    for (const pr of project.prs) {
      const { state, baseRef, headSha } = await forge.pull(pr);
      if (state !== 'open' || baseRef !== forge.base || !forge.isScheduled(pr)) continue;
      const said = forge.statusHistory(headSha).findLast(({ context }) => contexts.includes(context));
      if (said !== undefined && MOVES_ON.test(said.description))
        faults.push(`#${pr} is told "${said.description}" in the archive`);
    }
    return faults;
  }
}
