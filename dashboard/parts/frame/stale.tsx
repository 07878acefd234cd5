import { useNow } from '../../data/hooks.ts';
import { showClock } from '../../view/format.ts';

interface Reading {
  readonly isError: boolean;
  readonly dataUpdatedAt: number;
}

/** The age of readings that stay on the page while the service is asked again in vain; nothing where all are of now. */
export function Stale({
  readings,
  what = 'What you see',
}: {
  readonly readings: readonly Reading[];
  readonly what?: string;
}) {
  const now = useNow();
  if (!readings.some(({ isError }) => isError)) return null;
  const oldest = Math.min(...readings.map(({ dataUpdatedAt }) => dataUpdatedAt));
  return (
    <p className="stale" role="status">
      {what} is from {showClock(new Date(oldest).toISOString(), now)}: the last look failed, it is tried
      again.
    </p>
  );
}
