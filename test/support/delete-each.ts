/** Tries every deletion, whatever becomes of the others, and fails with the first error once all were tried. */
export async function deleteEach(deletions: readonly (() => Promise<unknown>)[]): Promise<void> {
  const errors: unknown[] = [];
  for (const remove of deletions) {
    try {
      await remove();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}
