import type { BranchProtection, WriteRight } from '#core/domain/forge/forge.ts';
import type { MergeStyle } from '#core/domain/repos/merge-style.ts';
import { mapKnown, type Reading, UNKNOWN } from '#core/domain/result.ts';
import type { EngineForge } from '#core/ports/forge.ts';
import { findListed } from '../queue/admission/merge-list.ts';
import type { PullRequestView } from '../queue/snapshot.ts';
import type { LookBudget } from './look-budget.ts';
import type { NamedTeams } from './named-teams.ts';

type Asked = Pick<EngineForge, 'readWriteRight' | 'readAllowedStyles'>;

/** Who may write here, as far as it was asked in this reconcile: rights are given and taken without an event. */
export class RightsReader {
  readonly #forge: Asked;
  readonly #budget: LookBudget;
  readonly #rights = new Map<string, Reading<WriteRight>>();
  #styles: Reading<readonly MergeStyle[] | null> = UNKNOWN;

  constructor(deps: { readonly forge: Asked; readonly budget: LookBudget }) {
    this.#forge = deps.forge;
    this.#budget = deps.budget;
  }

  async read(login: string): Promise<Reading<WriteRight>> {
    const asked = this.#rights.get(login);
    if (asked?.known === true) return asked;
    const answer = await this.#budget.tryRead(() => this.#forge.readWriteRight(login));
    this.#rights.set(login, answer);
    return answer;
  }

  /**
   * For an account that stands behind a head on a branch of this repository. To push there took the right to write code, so
   * a place in the list of those who can be given work is enough where the bot may not read more; an account that is not in
   * that list has no such right (0069).
   */
  async mayWrite(login: string): Promise<Reading<boolean>> {
    return mapKnown(await this.read(login), (right) => right === 'yes' || right === 'listed');
  }

  /** All that the forge goes by when it merges: the styles that are allowed and, where it is known, the right of who scheduled. */
  async readMerger(
    teams: NamedTeams,
    rule: BranchProtection,
    login: string | undefined,
  ): Promise<Pick<PullRequestView, 'schedulerWrites' | 'mergePlace' | 'allowedStyles'>> {
    const allowedStyles = await this.#readStyles();
    if (login === undefined) return { allowedStyles };
    const schedulerWrites = await this.read(login);
    const place = findListed(rule, login);
    if (typeof place === 'string') return { allowedStyles, schedulerWrites };
    return { allowedStyles, schedulerWrites, mergePlace: await teams.findIn(place.inTeams, login) };
  }

  async #readStyles(): Promise<Reading<readonly MergeStyle[] | null>> {
    if (!this.#styles.known) this.#styles = await this.#budget.tryRead(() => this.#forge.readAllowedStyles());
    return this.#styles;
  }
}
