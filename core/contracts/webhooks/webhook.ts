import * as z from 'zod';

export const WebhookOutcomeBody = z.object({
  outcome: z.enum(['processed', 'wait_for_reconcile', 'ignored']),
});
