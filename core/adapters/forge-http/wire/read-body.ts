import type * as z from 'zod';
import { type ForgeAnswer, type ForgeCall, unusable } from './transport.ts';

/** The answer in the shape we use; anything else is no answer of a forge. The report of what was wrong quotes it: dropped. */
export function readBody<Shape extends z.ZodType>(
  shape: Shape,
  call: ForgeCall,
  answer: ForgeAnswer,
): z.output<Shape> {
  const parsed = shape.safeParse(answer.value);
  if (!parsed.success) throw unusable(call, answer.status);
  return parsed.data;
}
