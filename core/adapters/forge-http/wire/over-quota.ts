import * as z from 'zod';

const Refusal = z.object({ message: z.literal('quota exceeded') });

/** Forgejo's own word: the owner of the repository is over a quota. Of a body that is too large, a proxy speaks in its own words. */
export function isOverQuota(answer: { readonly status: number; readonly value: unknown }): boolean {
  return answer.status === 413 && Refusal.safeParse(answer.value).success;
}
