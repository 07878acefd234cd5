import type { BranchProtection, PullRequest } from '#core/domain/forge/forge.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { mayRenew, type ScheduleRules } from '#core/domain/repos/schedule-rules.ts';
import { known, mapKnown, type Reading, UNKNOWN } from '#core/domain/result.ts';
import type { EngineForge } from '#core/ports/forge.ts';
import { findListed } from '../queue/admission/merge-list.ts';
import type { HeadPush, PullRequestReading, ScheduleReading } from '../queue/admission/readings.ts';
import { approvesSince, isAwaited, isRenewedBy, needsRenewal, renewed } from '../queue/admission/renewal.ts';
import { approversOf, summarize } from '../queue/admission/reviews.ts';
import { asksTeams, countedBots } from '../queue/admission/schedule-breach.ts';
import type { QueueRecord } from '../queue/record/record.ts';
import type { LookBudget } from './look-budget.ts';
import type { NamedTeams } from './named-teams.ts';

export interface RenewalDeps {
  readonly forge: EngineForge;
  readonly budget: LookBudget;
  readonly owner: string;
  readonly rules: ScheduleRules;
  readonly teams: NamedTeams;
  readonly mayWrite: (login: string) => Promise<Reading<boolean>>;
  readonly botLogin: () => Promise<Reading<string>>;
}

/** The account that the repository belongs to. */
export function ownerOf({ slug }: Pick<ManagedRepo, 'slug'>): string {
  return slug.slice(0, slug.indexOf('/'));
}

interface Asked {
  readonly pull: PullRequest;
  readonly push: HeadPush;
  readonly rule: BranchProtection;
  /** One from outside may push here: only an approval counts. */
  readonly isOutside: boolean;
}

/**
 * A head that was pushed after its schedule, or may have been: does a person with the right stand for it? The push of one who may merge does,
 * and so does an official approval that was given on this head since (decision 0003). Both are then held to the rules about who
 * may schedule (decision 0225).
 */
export class RenewalReader {
  readonly #deps: RenewalDeps;
  #sharesName: Reading<boolean> | null = null;

  constructor(deps: RenewalDeps) {
    this.#deps = deps;
  }

  async read(
    record: QueueRecord,
    reading: PullRequestReading,
    asked: Omit<Asked, 'push' | 'rule' | 'isOutside'> & {
      readonly rule: BranchProtection | null;
      readonly isOutside: () => Promise<Reading<boolean>>;
    },
  ): Promise<Reading<PullRequestReading>> {
    const { schedule } = reading;
    const { pull, rule } = asked;
    if (schedule.kind === 'none' || !needsRenewal(schedule)) return known(reading);
    const { push, id, at, by } = schedule;
    const moved = { kind: 'moved', id, at, ...(by === undefined ? {} : { by }) } as const;
    const asking: ScheduleReading = { ...moved, ...(push === undefined ? {} : { push }), why: 'asking' };
    if (push === undefined) return known({ ...reading, schedule: asking });
    const entry = record.entries.find(({ pr }) => pr === pull.number);
    const holds = renewed(schedule, push, entry, pull.headSha);
    const isHeld = isRenewedBy(push, entry, pull.headSha);
    const asBefore =
      !isHeld && isAwaited(schedule, entry, pull.headSha)
        ? UNKNOWN
        : known({ ...reading, schedule: isHeld ? holds : asking });
    if (rule === null) return asBefore;
    const outside = await asked.isOutside();
    const isOutside = outside.known && outside.value;
    const byPerson = isOutside ? known(false) : await this.#mayMerge(push, rule);
    const byPush = outside.known ? byPerson : outside;
    const mayPush = byPush.known && byPush.value ? await this.#mayRenew(pull, push.by) : byPush;
    if (mayPush.known && mayPush.value) return known({ ...reading, schedule: holds });
    const listed = await this.#deps.budget.tryRead(() => this.#deps.forge.listReviews(pull.number));
    if (!listed.known) return asBefore;
    const since = approvesSince(push);
    const counted = summarize(listed.value, pull.headSha, { since, bots: countedBots(this.#deps.rules) });
    const approvers = approversOf(listed.value, pull.headSha, since);
    const mayApprove = await this.#mayAnyRenew(pull, approvers);
    if (mayApprove.known && mayApprove.value) return known({ ...reading, schedule: holds, ...counted });
    if (!mayPush.known || !mayApprove.known) return asBefore;
    const isAgainstRules = (byPush.known && byPush.value) || approvers.length > 0;
    const why = isAgainstRules ? 'rules' : isOutside ? 'outside' : 'push';
    return known({ ...reading, schedule: { ...moved, push, why }, ...counted });
  }

  /** By the rules about who may schedule. */
  async #mayRenew({ author }: PullRequest, login: string): Promise<Reading<boolean>> {
    const { rules, teams } = this.#deps;
    const place = asksTeams(rules, login) ? await teams.find(login) : known('out');
    return mapKnown(place, (inTeam) => mayRenew(rules, author, { login, inTeam: inTeam === 'in' }));
  }

  async #mayAnyRenew(pull: PullRequest, logins: readonly string[]): Promise<Reading<boolean>> {
    let answer: Reading<boolean> = known(false);
    for (const login of logins) {
      const may = await this.#mayRenew(pull, login);
      if (may.known && may.value) return may;
      if (!may.known) answer = may;
    }
    return answer;
  }

  /** A person's push: not the queue's own, and not that of a deploy key, which is shown as the owner's. */
  async #mayMerge({ by }: HeadPush, rule: BranchProtection): Promise<Reading<boolean>> {
    const listed = findListed(rule, by);
    const { teams } = this.#deps;
    const place = typeof listed === 'string' ? known(listed) : await teams.findIn(listed.inTeams, by);
    // Of a team whose members are hidden it is not known that it holds this account.
    if (!place.known) return place;
    if (place.value !== 'listed' && place.value !== 'in') return known(false);
    const bot = await this.#deps.botLogin();
    if (!bot.known) return bot;
    if (bot.value.toLowerCase() === by.toLowerCase()) return known(false);
    if (by.toLowerCase() === this.#deps.owner.toLowerCase()) {
      if (this.#sharesName?.known !== true)
        this.#sharesName = await this.#deps.budget.tryRead(() => this.#deps.forge.hasWritingKey());
      // Who may not read the keys cannot tell: then the push is not taken for the owner's.
      if (!this.#sharesName.known || this.#sharesName.value) return known(false);
    }
    return this.#deps.mayWrite(by);
  }
}
