import * as z from 'zod';
import type { RepoId } from '../../domain/ids.ts';
import { GLANCE_STEPS_MAX } from '../../domain/limits.ts';
import type { DueGlance } from '../../ports/system.ts';

/**
 * Body of both wake queues: a hint that this repo may be due, never a command (E7). Unknown fields are refused. With
 * `glance` it asks for the glance of this number since the look of that wake.
 */
const wakeMessageSchema = z.strictObject({
  repo_id: z.string().min(1).max(64),
  wake_seq: z.int().nonnegative(),
  glance: z.int().min(1).max(GLANCE_STEPS_MAX).optional(),
});

export interface WakeMessage {
  readonly repoId: RepoId;
  readonly wakeSeq: number;
  /** Absent: a wake. */
  readonly glance?: number;
}

/** Null: it is a wake. */
export function glanceOf({ repoId, wakeSeq, glance }: WakeMessage): DueGlance | null {
  return glance === undefined ? null : { repoId, wakeSeq, step: glance };
}

export function formatWakeMessage(wake: WakeMessage): string {
  return JSON.stringify({
    repo_id: wake.repoId,
    wake_seq: wake.wakeSeq,
    ...(wake.glance === undefined ? {} : { glance: wake.glance }),
  } satisfies z.input<typeof wakeMessageSchema>);
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
  if (!parsed.success) return null;
  const { repo_id: repoId, wake_seq: wakeSeq, glance } = parsed.data;
  return { repoId, wakeSeq, ...(glance === undefined ? {} : { glance }) };
}
