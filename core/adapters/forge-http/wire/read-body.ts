import type * as z from 'zod';
import { type ForgeAnswer, type ForgeCall, unusable } from './transport.ts';

/**
 * Parses an answer. Throws `ForgeError` for any other shape; the parser's report is dropped, because it quotes the
 * answer.
 */
export function readBody<Shape extends z.ZodType>(
  shape: Shape,
  call: ForgeCall,
  answer: ForgeAnswer,
): z.output<Shape> {
  const parsed = shape.safeParse(answer.value);
  if (!parsed.success) throw unusable(call, answer.status);
  return parsed.data;
}
