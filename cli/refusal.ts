import { nextStep, splitStep } from '#core/contracts/error-steps.ts';
import { ApiError } from '#core/contracts/routes/client.ts';

/** A refusal with a message and a next step of the command's own, which knows what it asked for. */
export class Refusal extends ApiError {
  constructor(
    { code, status, retryable }: ApiError,
    message: string,
    readonly next: string,
  ) {
    super(code, message, status, retryable);
  }
}

/** The refusal for an unexpected error: an answer that a command cannot read, or a fault of this program. */
export const notUsable = (error: unknown): Refusal =>
  new Refusal(
    new ApiError('unexpected', '', 0, false),
    `The command could not go on (${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}).`,
    'Check that the service is of the same release as this program. If it is, report this line.',
  );

export const stepOf = (error: ApiError): string | null =>
  error instanceof Refusal ? error.next : nextStep(error);

/** A refusal as one line: code, message, next step. */
export function sayRefusal(error: ApiError): string {
  const { fact, step } = splitStep(error, stepOf(error));
  return `${error.code}: ${[fact, step].filter((part) => part !== '' && part !== null).join(' ')}`;
}
