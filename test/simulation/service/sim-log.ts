import type { Log } from '#core/ports/system.ts';
import type { Witness } from './hosts.ts';
import { TOKEN_PREFIX } from './parts.ts';

/** When each alarm was told last, by its name, repo and pull request. */
export type Alarms = Map<string, number>;

/** The service's log. Whatever is written, at any level, is searched for tokens; the alarms are kept. */
export function createSimLog(witness: Witness, alarms: Alarms, now: () => number): Log {
  const info = (message: string, fields: Readonly<Record<string, unknown>> = {}): void => {
    if (`${message} ${JSON.stringify(fields)}`.includes(TOKEN_PREFIX))
      witness.violate('a token is in the log');
  };
  const write = (message: string, fields: Readonly<Record<string, unknown>> = {}): void => {
    info(message, fields);
    if (typeof fields.alarm === 'string') {
      witness.sometimes(`alarm ${fields.alarm}`);
      witness.note(`ALARM ${fields.alarm} ${String(fields.repo_id)} #${String(fields.pr)}`);
      alarms.set(`${fields.alarm} ${String(fields.repo_id)} #${String(fields.pr)}`, now());
      if (fields.alarm === 'tree_mismatch') witness.halted(String(fields.repo_id));
    } else {
      if (message === 'queue record shortened') witness.sometimes('record shortened');
      if (message === 'reconcile failed' && fields.outcome !== 'Crash')
        witness.violate(`${message}: ${JSON.stringify(fields)}`);
    }
  };
  return { info, warn: write, error: write };
}
