import * as z from 'zod';

const Refusal = z.object({ message: z.string() });

/** Words of `verifyAuthWithOptions` of both forges; a text of its locale is one of an instance that speaks English. */
const WORDS: readonly string[] = [
  'prohibited from signing in',
  'must change your password',
  'account is not activated',
  'enable two-factor authentication',
];

/** Whether the forge refuses everything to the account of the token, which may be in order itself. */
export function isAccountLocked(answer: { readonly status: number; readonly value: unknown }): boolean {
  const told = Refusal.safeParse(answer.value);
  if (answer.status !== 403 || !told.success) return false;
  const { message } = told.data;
  return WORDS.some((words) => message.includes(words));
}
