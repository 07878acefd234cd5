import { ApiError } from '#core/contracts/client.ts';
import { nextStep, splitStep } from '#core/contracts/error-steps.ts';

/** A refusal of which a command knows more than the table: it asked for one thing, so its words and its step are exact. */
export class Refusal extends ApiError {
  constructor(
    { code, status, retryable }: ApiError,
    message: string,
    readonly next: string,
  ) {
    super(code, message, status, retryable);
  }
}

export const stepOf = (error: ApiError): string | null =>
  error instanceof Refusal ? error.next : nextStep(error);

/** One line: the code, the message, the next step. */
export function sayRefusal(error: ApiError): string {
  const { fact, step } = splitStep(error, stepOf(error));
  return `${error.code}: ${[fact, step].filter((part) => part !== '' && part !== null).join(' ')}`;
}
