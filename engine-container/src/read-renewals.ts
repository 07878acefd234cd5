import type { BranchProtection, PullRequest } from '#core/domain/forge.ts';
import type { ManagedRepo } from '#core/domain/repo.ts';
import { known, type Reading } from '#core/domain/result.ts';
import { mayRenew, type ScheduleRules } from '#core/domain/schedule-rules.ts';
import type { EngineForge } from '#core/ports/forge.ts';
import type { LookBudget } from './look-budget.ts';
import type { HeadPush, PullRequestReading, ScheduleReading } from './queue/readings.ts';
import type { QueueRecord } from './queue/record.ts';
import { approvesSince, isListed, isRenewedBy, needsRenewal, renewed } from './queue/renewal.ts';
import { approversOf, summarize } from './queue/reviews.ts';
import { countedBots } from './queue/schedule-breach.ts';

export interface RenewalDeps {
  readonly forge: EngineForge;
  readonly budget: LookBudget;
  readonly owner: string;
  readonly rules: ScheduleRules;
  readonly canWrite: (login: string) => Promise<Reading<boolean>>;
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
 * A head that was pushed after its schedule: does a person with the right stand for it? The push of one who may merge does,
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
      readonly isOutside: () => Promise<boolean>;
    },
  ): Promise<PullRequestReading> {
    const { schedule } = reading;
    const { pull, rule } = asked;
    const entry = record.entries.find(({ pr }) => pr === pull.number);
    if (schedule.kind === 'none' || !needsRenewal(schedule, entry, pull.headSha)) return reading;
    const { push, id, at, by } = schedule;
    const moved = { kind: 'moved', id, at, ...(by === undefined ? {} : { by }) } as const;
    const asking: ScheduleReading = { ...moved, ...(push === undefined ? {} : { push }), why: 'asking' };
    if (push === undefined) return { ...reading, schedule: asking };
    const stands = isRenewedBy(push, entry, pull.headSha) ? renewed(schedule, push) : asking;
    if (rule === null) return { ...reading, schedule: stands };
    const isOutside = await asked.isOutside();
    const mayRenewIt = (login: string): boolean => mayRenew(this.#deps.rules, pull.author, login);
    const byPush = isOutside ? known(false) : await this.#mayMerge(push, rule);
    if (byPush.known && byPush.value && mayRenewIt(push.by))
      return { ...reading, schedule: renewed(schedule, push) };
    const listed = await this.#deps.budget.attempt(() => this.#deps.forge.listReviews(pull.number));
    const since = approvesSince(push);
    const approvers = listed.known ? approversOf(listed.value, pull.headSha, since) : [];
    if (!listed.known) return { ...reading, schedule: stands };
    const counted = summarize(listed.value, pull.headSha, { since, bots: countedBots(this.#deps.rules) });
    if (approvers.some(mayRenewIt)) return { ...reading, schedule: renewed(schedule, push), ...counted };
    if (!byPush.known) return { ...reading, schedule: stands };
    const isAgainstRules = byPush.value || approvers.length > 0;
    const why = isAgainstRules ? 'rules' : isOutside ? 'outside' : 'push';
    return { ...reading, schedule: { ...moved, push, why }, ...counted };
  }

  /** A person's push: not the queue's own, and not that of a deploy key, which is shown as the owner's. */
  async #mayMerge({ by }: HeadPush, rule: BranchProtection): Promise<Reading<boolean>> {
    if (!isListed(rule, by)) return known(false);
    const bot = await this.#deps.botLogin();
    if (!bot.known) return bot;
    if (bot.value.toLowerCase() === by.toLowerCase()) return known(false);
    if (by.toLowerCase() === this.#deps.owner.toLowerCase()) {
      if (this.#sharesName?.known !== true)
        this.#sharesName = await this.#deps.budget.attempt(() => this.#deps.forge.hasWritingKey());
      // Who may not read the keys cannot tell: then the push is not taken for the owner's.
      if (!this.#sharesName.known || this.#sharesName.value) return known(false);
    }
    return this.#deps.canWrite(by);
  }
}
