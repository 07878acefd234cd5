import { includesLogin, type ScheduleRules } from '#core/domain/repos/schedule-rules.ts';
import { known, type Reading } from '#core/domain/result.ts';
import type { EngineForge } from '#core/ports/forge.ts';
import type { TeamPlace } from '../queue/admission/schedule-breach.ts';
import type { LookBudget } from './look-budget.ts';

/**
 * Who is in the teams that may schedule, or that the branch rule lets merge. Each team is read once in a reconcile, and only when
 * an account is asked about that neither the settings nor the rule names: rights are given and taken without an event, so that
 * nothing of it is kept.
 */
export class NamedTeams {
  readonly #forge: Pick<EngineForge, 'listTeamMembers'>;
  readonly #budget: LookBudget;
  readonly #rules: ScheduleRules;
  readonly #members = new Map<string, readonly string[] | null>();

  constructor(deps: {
    readonly forge: Pick<EngineForge, 'listTeamMembers'>;
    readonly budget: LookBudget;
    readonly rules: ScheduleRules;
  }) {
    this.#forge = deps.forge;
    this.#budget = deps.budget;
    this.#rules = deps.rules;
  }

  find(login: string): Promise<Reading<TeamPlace>> {
    return this.findIn(this.#rules.scheduleTeams, login);
  }

  async findIn(teams: readonly string[], login: string): Promise<Reading<TeamPlace>> {
    let place: Reading<TeamPlace> = known('out');
    for (const team of teams) {
      const members = await this.#read(team);
      if (!members.known) place = members;
      else if (members.value === null) place = place.known ? known('hidden') : place;
      else if (includesLogin(members.value, login)) return known('in');
    }
    return place;
  }

  async #read(team: string): Promise<Reading<readonly string[] | null>> {
    const earlier = this.#members.get(team);
    if (earlier !== undefined) return known(earlier);
    const members = await this.#budget.tryRead(() => this.#forge.listTeamMembers(team));
    if (members.known) this.#members.set(team, members.value);
    return members;
  }
}
