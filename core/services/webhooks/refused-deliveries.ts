import {
  REFUSED_DELIVERIES_MAX,
  REFUSED_DELIVERIES_REMEMBERED_MAX,
  REFUSED_DELIVERIES_WINDOW_MS,
} from '../../domain/api-limits.ts';

/** Deliveries with a wrong signature, by who sent them and what for. */
export interface RefusedDeliveries {
  /** True: so many were refused that the next one is refused without a look. */
  isOver(sender: string, target: string): boolean;
  count(sender: string, target: string): void;
}

/**
 * An address of a forge delivers for all of its repositories, so an address alone is never refused: one hook with a wrong
 * secret would silence the others. In memory: to count in the table would cost what the refusal saves.
 */
export function createRefusedDeliveries(now: () => number): RefusedDeliveries {
  const tallies = new Map<string, { readonly until: number; count: number }>();
  const find = (key: string) => {
    const tally = tallies.get(key);
    if (tally === undefined || tally.until > now()) return tally;
    tallies.delete(key);
    return undefined;
  };
  return {
    isOver: (sender, target) => (find(`${sender} ${target}`)?.count ?? 0) >= REFUSED_DELIVERIES_MAX,
    count: (sender, target) => {
      const key = `${sender} ${target}`;
      const tally = find(key) ?? { until: now() + REFUSED_DELIVERIES_WINDOW_MS, count: 0 };
      tally.count += 1;
      tallies.set(key, tally);
      const [oldest] = tallies.keys();
      if (tallies.size > REFUSED_DELIVERIES_REMEMBERED_MAX && oldest !== undefined) tallies.delete(oldest);
    },
  };
}
