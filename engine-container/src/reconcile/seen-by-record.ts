import type { EngineReport } from '#core/ports/store.ts';
import type { QueueRecord } from '../queue/record/record.ts';

type Seen = Pick<EngineReport, 'rule' | 'hook' | 'settingsSeen' | 'forge'>;

/** The facts of the forge that the record knows, for the report; what it never saw is absent. */
export function seenByRecord({ rule, forge, hook, settingsSeen }: QueueRecord): Seen {
  return {
    ...(rule === undefined ? {} : { rule }),
    ...(hook === undefined ? {} : { hook }),
    ...(settingsSeen === undefined ? {} : { settingsSeen }),
    ...(forge?.version == null ? {} : { forge: forge.version }),
  };
}
