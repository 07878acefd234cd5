import { StoreError } from '../../../ports/store.ts';
import { type Codec, UnreadableValue } from './codec.ts';

/** Reads one row whole, or fails as `unreadable`. */
export function readRow<T>(codec: Codec<T>, row: unknown, operation: string): T {
  try {
    return codec.read(row);
  } catch (error) {
    if (error instanceof UnreadableValue) throw new StoreError('unreadable', operation);
    throw error;
  }
}
