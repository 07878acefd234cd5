import * as z from 'zod';

/** The first value of a file. `stopped`: nothing that the file tells of runs on where it comes from. */
export const Meta = z.object({
  id: z.uuid(),
  made_at: z.int(),
  stopped: z.boolean(),
  queue_name: z.string(),
  tenants: z.array(z.string()),
  /** The lease's fence of each repository: writes of the target have greater ones. */
  fences: z.record(z.string(), z.int()),
});
export type Meta = z.infer<typeof Meta>;

export const Rows = z.object({ rows: z.array(z.record(z.string(), z.unknown())) });

/** The last value: rows of each kind. */
export type KindCounts = Readonly<Record<string, number>>;
export const Counts = z.object({ counts: z.record(z.string(), z.int()) }) satisfies z.ZodType<{
  counts: KindCounts;
}>;

/** Rows of one line. A row has at most 400 KB. */
export const ROWS_PER_LINE = 25;

export type Say = (line: string) => void;
