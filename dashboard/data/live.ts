import { createWatchable } from './store.ts';

/** How the page learns of changes, and why not at once. */
export type LiveState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'live' }
  | { readonly kind: 'polling'; readonly reason: 'no_ticket' | 'dropped' | 'offline' };

/** Asked anew this often while there is no socket (contract, Realtime queue socket; A116). */
export const POLL_EVERY_MS = 30_000;
/** With a socket, a lost ping costs at most this. */
export const LIVE_POLL_EVERY_MS = 5 * 60_000;
/** Several pings in one moment are one change. */
const PING_SETTLES_MS = 120;
const RETRY_MS: readonly number[] = [1_000, 3_000, 10_000, 30_000];
/** A deployment without realtime is asked again this seldom. */
const NO_TICKET_RETRY_MS = 5 * 60_000;
/** The gateway ends a socket after two hours (D-71). */
const SOCKET_LIFE_MS = 110 * 60_000;
/** Keeps the gateway from ending a quiet socket after ten minutes. */
const KEEP_ALIVE_MS = 4 * 60_000;

export interface LiveSocket {
  send(text: string): void;
  close(): void;
}

export interface LiveEvents {
  opened(): void;
  pinged(): void;
  closed(): void;
}

export interface LiveDeps {
  /** `no_ticket`: this deployment has none. Throws when no answer came. */
  readonly takeTicket: () => Promise<string | 'no_ticket'>;
  readonly open: (ticket: string, events: LiveEvents) => LiveSocket;
  readonly onRefresh: () => void;
  /** Runs once after so many ms; returns what takes it back. */
  readonly later: (ms: number, run: () => void) => () => void;
}

export interface LiveLink {
  readonly state: ReturnType<typeof createWatchable<LiveState>>;
  start(): void;
  stop(): void;
  /** Tries at once: the network is back, the page is looked at again. */
  nudge(): void;
  /** The browser says that there is no network: a socket that is still open brings no news. */
  lose(): void;
}

/** Keeps one socket open, falls back to polling while there is none, and says which (A116). */
export function createLiveLink(deps: LiveDeps): LiveLink {
  const state = createWatchable<LiveState>({ kind: 'connecting' });
  const pending = new Set<() => void>();
  let socket: LiveSocket | null = null;
  let failures = 0;
  let round = 0;
  let settling = false;

  const later = (ms: number, run: () => void): void => {
    const cancel = deps.later(ms, () => {
      pending.delete(cancel);
      run();
    });
    pending.add(cancel);
  };
  const clear = (): void => {
    for (const cancel of pending) cancel();
    pending.clear();
    settling = false;
    const old = socket;
    socket = null;
    old?.close();
  };
  const refreshSoon = (): void => {
    if (settling) return;
    settling = true;
    later(PING_SETTLES_MS, () => {
      settling = false;
      deps.onRefresh();
    });
  };
  const fallBack = (reason: 'no_ticket' | 'dropped' | 'offline'): void => {
    round += 1;
    clear();
    state.set({ kind: 'polling', reason });
    const wait =
      reason === 'no_ticket' ? NO_TICKET_RETRY_MS : (RETRY_MS[Math.min(failures, RETRY_MS.length - 1)] ?? 0);
    failures += 1;
    later(wait, () => void connect());
  };
  const keepAlive = (): void => {
    later(KEEP_ALIVE_MS, () => {
      socket?.send('{"type":"ping"}');
      keepAlive();
    });
  };
  const connect = async (): Promise<void> => {
    clear();
    round += 1;
    // Its socket is closed: until the next one is open the page asks by itself.
    if (state.read().kind === 'live') state.set({ kind: 'connecting' });
    const mine = round;
    let ticket: string | 'no_ticket';
    try {
      ticket = await deps.takeTicket();
    } catch {
      if (mine === round) fallBack('offline');
      return;
    }
    if (mine !== round) return;
    if (ticket === 'no_ticket') return fallBack('no_ticket');
    // A late message of an earlier socket is not heard: only this round's counts.
    const heard = (run: () => void) => () => {
      if (mine === round) run();
    };
    socket = deps.open(ticket, {
      opened: heard(() => {
        failures = 0;
        state.set({ kind: 'live' });
        // A change between the last look and now would never be pinged.
        deps.onRefresh();
        keepAlive();
        later(SOCKET_LIFE_MS, () => void connect());
      }),
      // Whatever it says, it says "look again": the payload carries no data (D-70).
      pinged: heard(refreshSoon),
      closed: heard(() => fallBack('dropped')),
    });
  };
  return {
    state,
    start: () => void connect(),
    stop: () => {
      round += 1;
      clear();
      state.set({ kind: 'connecting' });
    },
    nudge: () => {
      if (state.read().kind !== 'polling') return;
      failures = 0;
      void connect();
    },
    lose: () => {
      if (state.read().kind === 'live') fallBack('offline');
    },
  };
}

export function sayLive(state: LiveState): { readonly name: string; readonly meaning: string } {
  if (state.kind === 'live') return { name: 'Live', meaning: 'Changes are shown the moment they happen.' };
  if (state.kind === 'connecting') return { name: 'Connecting', meaning: 'Opening the live connection.' };
  const why = {
    no_ticket: 'Live updates are not available here.',
    dropped: 'The live connection was lost; it is tried again.',
    offline: 'The service did not answer; it is tried again.',
  }[state.reason];
  const seconds = POLL_EVERY_MS / 1000;
  return { name: `Every ${seconds} s`, meaning: `${why} This page asks every ${seconds} seconds.` };
}
