/** Every bundle: its folder in `dist` and its entry. One esbuild call makes them all. */
export const BUNDLE_ENTRIES = {
  tick: 'lambdas/tick/handler.ts',
  worker: 'lambdas/worker/handler.ts',
  'idle-look': 'engine-container/src/idle-look.handler.ts',
  'wake-forward': 'lambdas/wake/forward.handler.ts',
  'webhooks-forge': 'lambdas/webhooks/forge.handler.ts',
  'webhooks-payments': 'lambdas/webhooks/payments.handler.ts',
  billing: 'lambdas/billing/handler.ts',
  public: 'lambdas/public/handler.ts',
  api: 'lambdas/api/handler.ts',
  evidence: 'lambdas/evidence/handler.ts',
  advice: 'engine-container/src/advice.handler.ts',
  connections: 'lambdas/connections/handler.ts',
  'forge-ops': 'lambdas/forge-ops/handler.ts',
  admin: 'lambdas/admin/handler.ts',
  'container-health': 'lambdas/container-health/handler.ts',
  'socket-connect': 'lambdas/realtime/connect.handler.ts',
  'socket-disconnect': 'lambdas/realtime/disconnect.handler.ts',
  'socket-default': 'lambdas/realtime/default.handler.ts',
  'socket-push': 'lambdas/realtime/push.handler.ts',
  notify: 'lambdas/notify/handler.ts',
  site: 'lambdas/site/handler.ts',
  secrets: 'lambdas/secrets/handler.ts',
  engine: 'engine-container/src/main.ts',
} as const;

export type BundleName = keyof typeof BUNDLE_ENTRIES;
