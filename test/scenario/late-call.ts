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

/** The call that posts the `success` on this head: words of the queue are posted there before. */
export function postsSuccess(head: string): (call: LateCall) => boolean {
  return ({ path, about }) => path.endsWith(`/statuses/${head}`) && about === 'success';
}
