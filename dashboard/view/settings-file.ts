import type { ResultOf } from '#core/contracts/routes/client.ts';
import { SETTINGS_FILE } from '#core/domain/queue/queue-names.ts';
import { shortSha } from './format.ts';

type Seen = Pick<ResultOf<'listRepos'>[number]['file_settings'], 'state' | 'commit' | 'from'>;

/** State of the settings file in words. `page`: the one with the stored values, as its reader would name it. */
export function sayFileState({ state, commit, from }: Seen, page: string): string {
  switch (state) {
    case 'off':
      return `The queue can read ${SETTINGS_FILE} on the base branch: what it names holds before the values of ${page}. It sets how batches are made, never what is proven or who may land.`;
    case 'unread':
      return `${SETTINGS_FILE} is read at the next look. Until then the values of ${page} hold.`;
    case 'missing':
      return `The base has no ${SETTINGS_FILE} at ${shortSha(commit)}: the values of ${page} hold.`;
    case 'right':
      return `${SETTINGS_FILE} of ${shortSha(from)} holds before the values of ${page}. A change takes effect once it has landed.`;
    case 'wrong':
      return `${SETTINGS_FILE} at ${shortSha(commit)} is wrong: ${from === null ? `the values of ${page} hold` : `those of ${shortSha(from)} stay in force`}. Land a correction.`;
  }
}
