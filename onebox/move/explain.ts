import { MoveError } from '#core/adapters/move-file/sealed-lines.ts';
import { ConfigError } from '../config.ts';
import { sayOfDisk } from '../run-main.ts';

/**
 * The text of an error for the operator: of the service's own errors their message, of any other its name alone,
 * because an SDK may quote a row.
 */
export function explain(error: unknown): string {
  if (error instanceof MoveError || error instanceof ConfigError) return error.message;
  const ofDisk = sayOfDisk(error);
  if (ofDisk !== null) return ofDisk;
  const code = error instanceof Error && 'code' in error ? ` ${String(error.code)}` : '';
  const name = error instanceof Error ? `${error.name}${code}` : 'unknown fault';
  return `It stopped (${name}). Start the same command again.`;
}
