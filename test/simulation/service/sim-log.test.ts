import type { Witness } from './hosts.ts';
import { tokenOf } from './parts.ts';
import { createSimLog } from './sim-log.ts';

function given() {
  const faults: string[] = [];
  const nothing = (): void => undefined;
  const witness = {
    violate: (what: string) => void faults.push(what),
    sometimes: nothing,
    note: nothing,
    halted: nothing,
  } as unknown as Witness;
  return { faults, log: createSimLog(witness, new Map(), () => 0) };
}

test.each(['info', 'warn', 'error'] as const)(
  'a token of any tenant in a line or an alarm at the level %s is told',
  (level) => {
    for (const fields of [{ text: `x${tokenOf('tenant-3')}` }, { alarm: tokenOf('tenant-1') }]) {
      const { log, faults } = given();
      log[level]('message', fields);
      expect(faults).toEqual(['a token is in the log']);
    }
  },
);
