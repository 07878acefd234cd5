import type { VirtualClock } from '../../support/virtual-clock.ts';
import type { callApi, TreeForge } from './tree-forge.ts';

/** Tries until the forge has done what it does after a push. */
export const CHECK_LOOKS_MAX = 40;

export type Api = (
  as: 'bot' | 'person',
  method: 'GET' | 'POST',
  path: string,
  body?: unknown,
) => ReturnType<typeof callApi>;

/** Opens until the forge knows the branch: a push by git is answered before its API has heard of it. */
export async function openPull(
  forge: TreeForge,
  clock: VirtualClock,
  api: Api,
  head: string,
): Promise<number> {
  for (let look = 1; ; look += 1) {
    try {
      return (await api('person', 'POST', '/pulls', { head, base: 'main', title: head.toUpperCase() }))
        .number;
    } catch (error) {
      if ((error as { status?: number }).status !== 404 || look === CHECK_LOOKS_MAX) throw error;
    }
    await clock.advance(500);
    await forge.settle();
  }
}

/** Presses the button until the forge has ended its check; false when it never takes it. */
export async function schedule(
  forge: TreeForge,
  clock: VirtualClock,
  api: Api,
  pr: number,
  style: string,
): Promise<boolean> {
  for (let look = 0; look < CHECK_LOOKS_MAX; look += 1) {
    try {
      await api('person', 'POST', `/pulls/${pr}/merge`, { Do: style, merge_when_checks_succeed: true });
      return true;
    } catch (error) {
      if ((error as { status?: number }).status !== 405) throw error;
    }
    await clock.advance(500);
    await forge.settle();
  }
  return false;
}
