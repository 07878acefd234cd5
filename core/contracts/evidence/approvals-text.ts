/** `approved_by` of a receipt in words. */
export function sayApprovers(approvedBy: readonly string[] | null): string {
  if (approvedBy === null) return 'not asked, or not known';
  return approvedBy.join(', ') || 'nobody';
}
