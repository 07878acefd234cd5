import { createNotifier } from '#core/adapters/email-chat/notifier.ts';
import { createMailLine } from '#core/adapters/smtp/mail-line.ts';
import { createSmtp } from '#core/adapters/smtp/smtp.ts';
import { makeUpText } from '#core/adapters/system/made-up-text.ts';
import { SocketHub } from '#core/adapters/websocket/socket-hub.ts';
import { MAIL_KEY_CHARS } from '#core/contracts/notices/mailbox.ts';
import { formatPong } from '#core/contracts/realtime/realtime.ts';
import type { Invocable, Stoppable } from '#core/ports/invocable.ts';
import type { Log } from '#core/ports/system.ts';
import { createNotify } from '../lambdas/notify/notify.ts';
import { createConnect } from '../lambdas/realtime/admit.ts';
import { createDisconnect } from '../lambdas/realtime/disconnect.ts';
import { createPush } from '../lambdas/realtime/push.ts';
import { callerReader } from './caller.ts';
import type { OneboxConfig } from './config.ts';
import type { Metrics } from './metrics.ts';
import { asInvocable } from './routes.ts';
import type { Stops } from './stops.ts';
import type { Storage } from './storage.ts';
import type { Shared } from './surfaces.ts';

const CHANGES_WINDOW_MS = 500;
const NOTICE_AGE_MS_MAX = 10 * 60_000;
const SOCKET_STAGE = 'live';

/** Composes the sockets of open pages. */
export function composeSockets(
  shared: Shared,
  config: Pick<OneboxConfig, 'behind_proxy'>,
  stops: Stops,
): SocketHub {
  const { store, log, clock } = shared;
  const sockets = new SocketHub((source, text) => log.warn('socket', { source, text }), callerReader(config));
  stops.push(() => sockets.stop());
  sockets.serve({
    connect: asInvocable(createConnect({ ...shared, rates: store })),
    disconnect: asInvocable(createDisconnect({ store, log })),
    fallback: { invoke: async () => ({ statusCode: 200, body: formatPong(clock.now()) }) },
    answers: true,
    stage: SOCKET_STAGE,
  });
  return sockets;
}

/** Composes the mails that wait for the mail server; null where none is configured. */
export function composeMails({ mail }: OneboxConfig, log: Log, metrics: Metrics, stops: Stops) {
  if (mail === null) return null;
  const count = (result: string): void => metrics.count('mergeyard_mails_total', { result });
  const mails = createMailLine({ smtp: createSmtp(mail), log, count });
  stops.push(() => mails.stop());
  return mails;
}

/** Composes what follows the changes of the table: pings to open pages, and notices. */
export function composeNotices(
  { store, secrets, send, clock, log, publicUrl }: Shared,
  { changes }: Pick<Storage, 'changes'>,
  sockets: SocketHub,
  mails: ReturnType<typeof composeMails>,
  stops: Stops,
): void {
  const push = createPush({ store, sender: sockets.sender(), log, clock });
  const notify = createNotify({
    store,
    secrets,
    clock,
    log,
    serviceUrl: publicUrl,
    makeMailKey: () => makeUpText(MAIL_KEY_CHARS),
    notifier: createNotifier({
      email: mails === null ? { way: 'none' } : { way: 'smtp', sendMail: mails.send },
      send,
    }),
  });
  for (const target of [asInvocable(push), asInvocable(notify)]) {
    const source = followTable(changes, target, log);
    stops.push(() => source.stop());
  }
}

function followTable(changes: Storage['changes'], target: Invocable, log: Log): Stoppable {
  return changes.follow(
    {
      target,
      batchSize: 100,
      windowMs: CHANGES_WINDOW_MS,
      retries: 5,
      maxAgeMs: NOTICE_AGE_MS_MAX,
      reportsFailures: true,
      bisects: true,
      giveUp: async () => log.error('changes were given up'),
    },
    (name, text) => log.warn('changes of the table', { name, text }),
  );
}
