import type { MergeRefusal } from '#core/domain/pulls/merge-refusal.ts';

/** Ends the planning of one merge. */
export class Refused extends Error {
  override readonly name = 'Refused';
  constructor(readonly reason: MergeRefusal) {
    super(`the merge is refused: ${reason}`);
  }
}
