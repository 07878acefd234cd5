import { type ForgeTransport, isPage, unusable } from '../wire/transport.ts';

/** Cancels a run. False where this version cannot (before Forgejo 16 and Gitea 1.28) or knows no such run. */
export async function cancelGateRun(transport: ForgeTransport, runId: string): Promise<boolean> {
  const call = {
    method: 'POST',
    label: 'POST actions/runs/{id}/cancel',
    path: [...transport.repoPath, 'actions', 'runs', runId, 'cancel'],
  } as const;
  const answer = await transport.exchange(call);
  // An unknown route is answered with a page, so this 404 need not be JSON.
  if (answer.status === 404 || answer.status === 405) return false;
  // Ended in the meantime: nothing is left to cancel.
  if (answer.status === 409 && answer.isJson) return true;
  if (answer.status < 200 || answer.status > 299) throw transport.failure(call, answer);
  if (isPage(answer)) throw unusable(call, answer.status);
  return true;
}
