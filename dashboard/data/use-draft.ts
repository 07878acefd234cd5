import { useEffect, useState } from 'react';

/**
 * A form over what is stored. A field that was not edited follows what is stored, so that a save takes back no change that
 * another person has made meanwhile.
 *
 * @param stored - Plain values; an edit that is the same as its value here is none.
 */
export function useDraft<Draft extends object>(stored: Draft) {
  const [edits, setEdits] = useState<Partial<Draft>>({});
  const names = (Object.keys(edits) as (keyof Draft)[]).filter((name) => edits[name] !== stored[name]);
  const open = Object.fromEntries(names.map((name) => [name, edits[name]])) as Partial<Draft>;
  const isOver = names.length < Object.keys(edits).length;
  useEffect(() => {
    if (isOver) setEdits(open);
  });
  return {
    draft: { ...stored, ...open } as Draft,
    edit: (change: Partial<Draft>): void => setEdits({ ...open, ...change }),
    /** The edits are stored, as `next` has them; they stay on the page until `stored` has them as well. */
    saved: (next: Draft): void =>
      setEdits((now) => ({ ...now, ...Object.fromEntries(names.map((name) => [name, next[name]])) })),
    undo: (): void => setEdits({}),
  };
}
