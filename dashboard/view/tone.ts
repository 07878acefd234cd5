/** Aspects of a signal: what colour and shape say together, never colour alone. */
export const TONES = ['clear', 'busy', 'stop', 'quiet', 'unknown'] as const;
export type Tone = (typeof TONES)[number];
