import * as z from 'zod';

export const SIGNALS = ['tick_freshness', 'overdue_repo', 'supersede_rate', 'phase_age'] as const;
export type Signal = (typeof SIGNALS)[number];
const SIGNAL_STATES = ['ok', 'degraded', 'unknown'] as const;
export type SignalState = (typeof SIGNAL_STATES)[number];

export const Healthy = z.object({ ok: z.literal(true) });
export const Unhealthy = z.object({ ok: z.literal(false), dependency: z.string() });

const state = z.enum(SIGNAL_STATES);
/** States only: no count, no id, no name (A112). */
export const QueueHealth = z.object({
  status: state,
  degraded_by: z.enum(['none', ...SIGNALS]),
  signals: z.object({ tick_freshness: state, overdue_repo: state, supersede_rate: state, phase_age: state }),
});

export type QueueHealth = z.input<typeof QueueHealth>;

/** `window.__ANALYTICS_API_KEY__="…";`, or nothing. Safe inside a script element whatever the key holds (A114). */
export function formatAnalyticsConfig(key: string): string {
  if (key === '') return '';
  const literal = JSON.stringify(key).replace(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `window.__ANALYTICS_API_KEY__=${literal};`;
}
