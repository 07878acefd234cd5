import * as z from 'zod';

const Refusal = z.object({ message: z.literal('quota exceeded') });

/**
 * Whether Forgejo says that the owner of the repository is over a quota. For a body that is too large a proxy answers
 * the same status with another body.
 */
export function isOverQuota(answer: { readonly status: number; readonly value: unknown }): boolean {
  return answer.status === 413 && Refusal.safeParse(answer.value).success;
}
