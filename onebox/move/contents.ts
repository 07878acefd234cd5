import * as z from 'zod';

/** The first value of a file. `stopped`: the exported installation does not run on. */
export const Meta = z.object({
  id: z.uuid(),
  made_at: z.int(),
  stopped: z.boolean(),
  queue_name: z.string(),
  tenants: z.array(z.string()),
  /** Highest fence of each repository's lease; the target begins above it. */
  fences: z.record(z.string(), z.int()),
});
export type Meta = z.infer<typeof Meta>;

export const Rows = z.object({ rows: z.array(z.record(z.string(), z.unknown())) });

/** The last value of a file: the number of rows of each kind. */
export type KindCounts = Readonly<Record<string, number>>;
export const Counts = z.object({ counts: z.record(z.string(), z.int()) }) satisfies z.ZodType<{
  counts: KindCounts;
}>;

/** Rows in one line of the file. A row has at most 400 KB. */
export const ROWS_PER_LINE = 25;

export type Say = (line: string) => void;
