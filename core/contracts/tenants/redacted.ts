/** Stands for a secret in an export. */
export const REDACTED = '[redacted]';
