import { readLookMemory } from '../../contracts/internal/idle-look.ts';
import { ENGINE_NEED_RENEWED_AFTER_MS } from '../../domain/limits.ts';
import { CLOCKS_DIFFER_MS_MAX } from '../../domain/wakes/clocks.ts';
import type { LookStore } from '../../ports/idle-look.ts';
import { whole } from './rows/codec.ts';
import { engineNeedKey, lookKey } from './rows/keys.ts';
import { readRow } from './rows/read-row.ts';
import type { Table } from './table/table.ts';

export function createLookStore(table: Table): LookStore {
  return {
    async loadLook(repoId) {
      const row = await table.get(lookKey(repoId), 'loadLook');
      // Of another version, or damaged: as good as none.
      return row === null ? null : readLookMemory(row.memory);
    },

    async saveLook(repoId, memory) {
      await table.put({ Item: { ...lookKey(repoId), memory } }, 'saveLook');
    },

    async loadEngineNeededAt() {
      const row = await table.get(engineNeedKey, 'loadEngineNeededAt');
      return row === null ? null : readRow(whole, row.at, 'loadEngineNeededAt');
    },

    async noteEngineNeeded(at) {
      await table.put(
        {
          Item: { ...engineNeedKey, at },
          ConditionExpression: 'attribute_not_exists(pk) OR #at <= :before OR #at > :ahead',
          ExpressionAttributeNames: { '#at': 'at' },
          ExpressionAttributeValues: {
            ':before': at - ENGINE_NEED_RENEWED_AFTER_MS,
            ':ahead': at + CLOCKS_DIFFER_MS_MAX,
          },
        },
        'noteEngineNeeded',
      );
    },
  };
}
