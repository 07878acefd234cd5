import type { RealtimeStore } from '#core/ports/account-store.ts';
import type { Log } from '#core/ports/system.ts';

export interface DisconnectDeps {
  readonly store: Pick<RealtimeStore, 'removeSocket'>;
  readonly log: Log;
}

export interface SocketEvent {
  readonly requestContext: { readonly connectionId: string };
}

/** The gateway tells most departures, not all; the rest is found out by the next ping. */
export function createDisconnect(
  deps: DisconnectDeps,
): (event: SocketEvent) => Promise<{ readonly statusCode: number }> {
  return async (event) => {
    try {
      await deps.store.removeSocket(event.requestContext.connectionId);
    } catch (error) {
      deps.log.warn('the row of a socket could not be deleted', { error });
    }
    return { statusCode: 200 };
  };
}
