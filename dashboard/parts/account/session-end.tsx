import { useSyncExternalStore } from 'react';
import { endedAt } from '../../data/tabs.ts';
import { showClock } from '../../view/format.ts';

/** Why a person who was signed in is here. */
export function SessionEnd() {
  const at = useSyncExternalStore(endedAt.watch, endedAt.read);
  if (at === null) return null;
  return (
    <p className="hint" role="status">
      Your session ended at {showClock(new Date(at).toISOString(), Date.now())}. Sign in, and you are back
      where you were.
    </p>
  );
}
