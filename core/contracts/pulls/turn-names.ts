import type { Turn } from '../../domain/pulls/pull-code-kinds.ts';

/** The party whose turn it is, in words: the same on the page and in a terminal. */
export const TURN_NAMES: Readonly<Record<Turn, string>> = {
  author: 'its author',
  reviewer: 'a reviewer',
  operator: 'a maintainer of the repository',
  forge: 'the forge',
  ci: 'the CI',
  none: 'the queue',
};
