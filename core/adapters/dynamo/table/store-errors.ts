import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { StoreError, type StoreErrorKind } from '../../../ports/store.ts';

/**
 * The `StoreError` for an error of the database. Its message and cause are dropped, because a validation message quotes
 * values of the row (A95). A row that is too large, and a counter that is no number, are both reported as validation
 * errors, alone or as a reason of a cancelled transaction.
 */
export function toStoreError(error: unknown, operation: string): Error {
  if (error instanceof StoreError) return error;
  if (error instanceof TransactionCanceledException) {
    const reason = error.CancellationReasons?.find((each) => each.Code === 'ValidationError');
    return new StoreError(judgeValidation(reason?.Message), operation);
  }
  const invalid = error instanceof Error && error.name === 'ValidationException';
  return new StoreError(judgeValidation(invalid ? error.message : undefined), operation);
}

function judgeValidation(message: string | undefined): StoreErrorKind {
  if (message === undefined) return 'unavailable';
  if (/size/i.test(message)) return 'too_large';
  return /operand|data type|type mismatch/i.test(message) ? 'unreadable' : 'unavailable';
}
