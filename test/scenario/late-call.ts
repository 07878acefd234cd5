import type { AbstractForge } from '../fakes/abstract-forge/abstract-forge.ts';

type LateCall = Parameters<AbstractForge['isLate']>[0];

/** The first call like this is given up by its caller and carried out later. Tells whether it was made. */
export function giveUpFirst(forge: AbstractForge, matches: (call: LateCall) => boolean): () => boolean {
  let made = false;
  forge.isLate = (call) => {
    const isFirst = !made && matches(call);
    made ||= isFirst;
    return isFirst;
  };
  return () => made;
}
