import { mayMatchGlob } from './glob.ts';

/** Patterns of a branch rule as the forge reads them: separated by semicolons, in lower case. */
export function parseFilePatterns(text: string): readonly string[] {
  return text
    .toLowerCase()
    .split(';')
    .map((pattern) => pattern.trim())
    .filter((pattern) => pattern !== '');
}

/** `*` and `?` stop at `.` and `/`. A malformed pattern protects nothing, as on the forge. */
export function isProtectedFile(patterns: readonly string[], path: string): boolean {
  const name = path.trim().toLowerCase();
  return patterns.some((pattern) => mayMatchGlob(pattern, name, './'));
}
