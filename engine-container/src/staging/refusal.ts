import type { MergeRefusal } from '#core/domain/pulls/merge-refusal.ts';

/** Ends the planning of one merge. */
export class Refused extends Error {
  override readonly name = 'Refused';
  constructor(readonly reason: MergeRefusal) {
    super(`the merge is refused: ${reason}`);
  }
}

/** Null: more changes than one comparison of trees may find. */
export async function unlessTooMany<T>(compare: () => Promise<T>): Promise<T | null> {
  try {
    return await compare();
  } catch (error) {
    if (error instanceof Refused && error.reason === 'too_many_files') return null;
    throw error;
  }
}
