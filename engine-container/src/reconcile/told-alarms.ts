import { DAY_MS, HOUR_MS } from '#core/domain/api-limits.ts';
import type { EpochMs, RepoId } from '#core/domain/ids.ts';
import type { Log } from '#core/ports/system.ts';
import type { Alarm } from '../queue/actions.ts';

/** An alarm of the queue, or of the reconcile itself. `ok`: every success that stood was taken back. */
export interface RaisedAlarm {
  readonly name: Alarm['name'] | 'record_too_large';
  readonly pr: Alarm['pr'];
  readonly ok?: boolean;
}

/** Raised at each look for as long as they are so. */
const LASTING: ReadonlySet<RaisedAlarm['name']> = new Set([
  'base_red',
  'foreign_status_writer',
  'gate_phase_age',
  'record_too_large',
]);
const TOLD_AGAIN_MS = DAY_MS;
/** An alarm that was not raised for so long was over. A base that fails is probed every half hour. */
const OVER_AFTER_MS = HOUR_MS;

/**
 * Writes the alarms of all repositories of one process. A line that came at each look would hold the alarm that counts it, and
 * that tells only when it begins: what lasts is written once, and again each day.
 */
export class ToldAlarms {
  readonly #told = new Map<string, { readonly at: EpochMs; seenAt: EpochMs }>();

  raise(log: Log, now: EpochMs, repo: RepoId, { name, ...rest }: RaisedAlarm): void {
    if (LASTING.has(name) && !this.#isNews(JSON.stringify([repo, name, rest]), now)) return;
    log.error('queue alarm', { repo_id: repo, alarm: name, ...rest });
  }

  #isNews(key: string, now: EpochMs): boolean {
    for (const [other, { seenAt }] of this.#told) {
      if (now - seenAt > OVER_AFTER_MS) this.#told.delete(other);
    }
    const told = this.#told.get(key);
    if (told !== undefined) told.seenAt = now;
    if (told !== undefined && now - told.at < TOLD_AGAIN_MS) return false;
    this.#told.set(key, { at: now, seenAt: now });
    return true;
  }
}
