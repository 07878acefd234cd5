import type { DriftKind } from './drift.ts';

/** A look that fails on such a drift tells no first one: it came about after the last look that went well. */
export function sinceEarliest(kind: DriftKind): boolean {
  return kind === 'base' || kind === 'rights';
}
