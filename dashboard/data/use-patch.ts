import type { InputFor } from '#core/contracts/client.ts';
import { useChange } from './hooks.ts';

export type Patch = InputFor<'updateRepo'>['body'];

/** Changes settings of one repository. */
export function usePatch(repo: { readonly id: string }) {
  return useChange((api, body: Patch) => api.updateRepo({ id: repo.id, body }), [['queue']]);
}
