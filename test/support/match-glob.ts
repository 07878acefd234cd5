import { Effort } from '#core/domain/effort.ts';
import { type GlobDialect, GlobReader } from '#core/domain/globs/glob.ts';
import { Subject } from '#core/domain/globs/glob-matcher.ts';

/** One pattern, for one text, whatever it takes. Null: malformed. Throws `EffortSpent` where the pattern is too long to be read. */
export function matchGlob(
  pattern: string,
  text: string,
  separators: string | null,
  dialect: GlobDialect,
): boolean | null {
  const effort = new Effort(Number.POSITIVE_INFINITY);
  return new GlobReader(dialect, separators, effort).matches(pattern, new Subject(text));
}
