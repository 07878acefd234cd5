import * as z from 'zod';
import type { RepoId } from '../domain/ids.ts';

/** Body of both wake queues: a hint that this repo may be due, never a command (E7). Unknown fields are refused. */
export const wakeMessageSchema = z.strictObject({
  repo_id: z.string().min(1).max(64),
  wake_seq: z.int().nonnegative(),
});

export interface WakeMessage {
  readonly repoId: RepoId;
  readonly wakeSeq: number;
}

export function formatWakeMessage(wake: WakeMessage): string {
  return JSON.stringify({ repo_id: wake.repoId, wake_seq: wake.wakeSeq } satisfies z.input<
    typeof wakeMessageSchema
  >);
}

/** Null for anything that is not exactly a wake: such a message can be dropped, the tick makes new ones. */
export function parseWakeMessage(body: string): WakeMessage | null {
  let raw: unknown;
  try {
    raw = JSON.parse(body);
  } catch {
    return null;
  }
  const parsed = wakeMessageSchema.safeParse(raw);
  return parsed.success ? { repoId: parsed.data.repo_id, wakeSeq: parsed.data.wake_seq } : null;
}
