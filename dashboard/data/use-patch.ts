import { ApiError, type InputFor } from '#core/contracts/routes/client.ts';
import { useChange } from './hooks.ts';

export type Patch = InputFor<'updateRepo'>['body'];

/** The queue finishes its step in this many tries, or something else is wrong. */
const BUSY_TRIES_MAX = 8;

/** Changes settings of one repository. A queue in the middle of a step is asked again: nothing was changed yet. */
export function usePatch(repo: { readonly id: string }) {
  return useChange(
    (api, body: Patch) => api.updateRepo({ id: repo.id, body }),
    [['queue']],
    (failed, error) =>
      failed < BUSY_TRIES_MAX &&
      error instanceof ApiError &&
      (error.code === 'queue_locked' || error.code === 'queue_lock_failed'),
  );
}
