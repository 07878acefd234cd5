import { MoveError } from '#core/adapters/move-file/sealed-lines.ts';
import { ConfigError } from '../config.ts';
import { sayOfDisk } from '../run-main.ts';

/** Our own sentences as they are; of any other error the name only: one of the SDK may quote a row. */
export function explain(error: unknown): string {
  if (error instanceof MoveError || error instanceof ConfigError) return error.message;
  const ofDisk = sayOfDisk(error);
  if (ofDisk !== null) return ofDisk;
  const code = error instanceof Error && 'code' in error ? ` ${String(error.code)}` : '';
  const name = error instanceof Error ? `${error.name}${code}` : 'unknown fault';
  return `It stopped (${name}). Start the same command again.`;
}
