export const LATE_OPTIMIZING: readonly string[];
