import type { Log } from '#core/ports/system.ts';
import type { Witness } from './hosts.ts';

/** The service's log: kept for the scan for tokens, with every alarm by name, repo and pull request. */
export function createSimLog(witness: Witness, logText: string[], alarms: Set<string>): Log {
  const write = (message: string, fields: Readonly<Record<string, unknown>> = {}): void => {
    if (typeof fields.alarm === 'string') {
      witness.sometimes(`alarm ${fields.alarm}`);
      witness.note(`ALARM ${fields.alarm} ${String(fields.repo_id)} #${String(fields.pr)}`);
      alarms.add(`${fields.alarm} ${String(fields.repo_id)} #${String(fields.pr)}`);
      if (fields.alarm === 'tree_mismatch') witness.halted(String(fields.repo_id));
    } else {
      if (message === 'queue record shortened') witness.sometimes('record shortened');
      logText.push(`${message} ${JSON.stringify(fields)}`);
      if (message === 'reconcile failed' && fields.outcome !== 'Crash')
        witness.violate(`${message}: ${JSON.stringify(fields)}`);
    }
  };
  return { info: () => undefined, warn: write, error: write };
}
