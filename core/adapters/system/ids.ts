import { randomUUID } from 'node:crypto';
import type { Ids } from '../../ports/system.ts';

export function createUuidIds(): Ids {
  return { uuid: () => randomUUID() };
}
