import { useEffect, useRef, useState } from 'react';

/**
 * Text of a search box whose search stands in the address. `seek` is called once the typing has rested for `settlesMs`
 * milliseconds; a link that takes the search away, or brings another, fills the box.
 */
export function useSettledSearch(
  sought: string,
  settlesMs: number,
  seek: (typed: string) => void,
): readonly [string, (typed: string) => void] {
  const [typed, setTyped] = useState(sought);
  const [shown, setShown] = useState(sought);
  if (shown !== sought) {
    setShown(sought);
    setTyped(sought);
  }
  // News that draw the page anew do not begin the wait anew.
  const latest = useRef(seek);
  useEffect(() => {
    latest.current = seek;
  });
  useEffect(() => {
    if (typed === sought) return;
    const timer = setTimeout(() => latest.current(typed), settlesMs);
    return () => clearTimeout(timer);
  }, [typed, sought, settlesMs]);
  return [typed, setTyped];
}
