import { type DatabaseOptions, type RunningDatabase, startDatabase } from '../../onebox/database.ts';

export type Emulator = Pick<RunningDatabase, 'endpoint' | 'stop'>;

/** DynamoDB on this machine: the endpoint that the environment names, else the embedded database in a process of its own. */
export function startDynamo(options: Partial<DatabaseOptions> = {}): Promise<Emulator> {
  return startDatabase({ env: process.env, ...options });
}
