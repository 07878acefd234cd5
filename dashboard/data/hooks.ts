import { keepPreviousData, skipToken, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, useContext, useEffect, useState, useSyncExternalStore } from 'react';
import { ApiError, type ResultOf } from '#core/contracts/routes/client.ts';
import type { ActivityEventName } from '../../core/domain/queue/batch.ts';
import type { Service } from './api.ts';
import {
  createLiveLink,
  LIVE_POLL_EVERY_MS,
  type LiveEvents,
  type LiveLink,
  type LiveSocket,
  type LiveState,
  POLL_EVERY_MS,
} from './live.ts';
import { type Session, session } from './session.ts';

const RETRY_CHANGE_MS = 2_000;

const HEALTH_EVERY_MS = 60_000;

const NOW_EVERY_MS = 5_000;

const DELIVERY_EVERY_MS = 3_000;

export const ServiceContext = createContext<Service | null>(null);
export const LiveContext = createContext<LiveLink | null>(null);

export function useService(): Service {
  const service = useContext(ServiceContext);
  if (service === null) throw new Error('no service around this component');
  return service;
}

export function useSession(): Session | null {
  return useSyncExternalStore(session.watch, session.read);
}

const CONNECTING: LiveState = { kind: 'connecting' };

export function useLiveState(): LiveState {
  const link = useContext(LiveContext);
  return useSyncExternalStore(
    (listener) => link?.state.watch(listener) ?? (() => undefined),
    () => link?.state.read() ?? CONNECTING,
  );
}

/** Now, in ms since 1970, read again every five seconds, so that "3 min ago" does not lie. */
export function useNow(): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), NOW_EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}

function usePollMs(): number {
  return useLiveState().kind === 'live' ? LIVE_POLL_EVERY_MS : POLL_EVERY_MS;
}

export const KEYS = {
  activity: ['queue', 'activity'],
  status: ['queue', 'status'],
  connections: ['connections'],
  billing: ['billing'],
  me: ['me'],
  tokens: ['tokens'],
} as const;

/** `before`: older batches than the newest 200, from `queue_batches_next`; all else is of now. */
export function useActivity(before: string | null = null) {
  const { api } = useService();
  const refetchInterval = usePollMs();
  return useQuery({
    queryKey: before === null ? KEYS.activity : [...KEYS.activity, before],
    queryFn: ({ signal }) => api.readActivity({ signal, ...(before === null ? {} : { query: { before } }) }),
    refetchInterval,
  });
}

export function useQueueStatus() {
  const { api } = useService();
  const refetchInterval = usePollMs();
  return useQuery({
    queryKey: KEYS.status,
    queryFn: ({ signal }) => api.readQueueStatus({ signal }),
    refetchInterval,
  });
}

/** Null: no number, nothing is asked. Under the key of the queue, so that the live link refreshes it too. */
export function usePull(id: string, number: number | null) {
  const { api } = useService();
  const refetchInterval = usePollMs();
  return useQuery({
    queryKey: ['queue', 'pull', id, number],
    queryFn: number === null ? skipToken : ({ signal }) => api.readPull({ id, number, signal }),
    refetchInterval,
  });
}

/** One page of the events of a repository. Under the key of the queue, so that the live link refreshes it too. */
export function useEvents(
  id: string,
  wanted: { readonly [part in 'q' | 'pr' | 'before']: string | null } & {
    readonly event: ActivityEventName | null;
  },
) {
  const { api } = useService();
  const refetchInterval = usePollMs();
  const { q, pr, event, before } = wanted;
  return useQuery({
    queryKey: ['queue', 'events', id, q, pr, event, before],
    queryFn: ({ signal }) =>
      api.readEvents({
        id,
        signal,
        query: {
          ...(q === null ? {} : { q }),
          ...(pr === null ? {} : { pr }),
          ...(event === null ? {} : { event }),
          ...(before === null ? {} : { before }),
        },
      }),
    // Rows of before stay as they are; the newest page moves.
    refetchInterval: before === null ? refetchInterval : false,
    placeholderData: keepPreviousData,
  });
}

/** Figures of one branch over weeks: they change slowly, so no live link refreshes them. */
export function useFigures(id: string) {
  const { api } = useService();
  return useQuery({ queryKey: ['figures', id], queryFn: ({ signal }) => api.readFigures({ id, signal }) });
}

/** Advice on the fan-out of one branch, from its last weeks; it takes the service a second. */
export function useFanoutAdvice(id: string) {
  const { api } = useService();
  return useQuery({
    queryKey: ['fanout', id],
    queryFn: ({ signal }) => api.readFanoutAdvice({ id, signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

export function useAuthorNotices() {
  const { api } = useService();
  return useQuery({
    queryKey: ['author-notices'],
    queryFn: ({ signal }) => api.readAuthorNotices({ signal }),
  });
}

/**
 * Deliveries to the webhook of notices. No ping tells of one, and a test is sent after its call has been answered: the list is
 * asked for often until `awaitedUntil`, in ms since 1970.
 */
export function useDeliveries(id: string, awaitedUntil = 0) {
  const { api } = useService();
  const every = usePollMs();
  return useQuery({
    queryKey: ['deliveries', id],
    queryFn: ({ signal }) => api.listDeliveries({ id, signal }),
    refetchInterval: () => (Date.now() < awaitedUntil ? DELIVERY_EVERY_MS : every),
  });
}

export function useConnections() {
  const { api } = useService();
  return useQuery({ queryKey: KEYS.connections, queryFn: ({ signal }) => api.listConnections({ signal }) });
}

export function useBilling() {
  const { api } = useService();
  return useQuery({ queryKey: KEYS.billing, queryFn: ({ signal }) => api.readBilling({ signal }) });
}

export function usePlans() {
  const { api } = useService();
  return useQuery({ queryKey: ['plans'], queryFn: ({ signal }) => api.readPlans({ signal }) });
}

export function useSessions() {
  const { api } = useService();
  return useQuery({ queryKey: ['sessions'], queryFn: ({ signal }) => api.listSessions({ signal }) });
}

export function useTokens() {
  const { api } = useService();
  return useQuery({ queryKey: KEYS.tokens, queryFn: ({ signal }) => api.listTokens({ signal }) });
}

export function useMe() {
  const { api } = useService();
  return useQuery({
    queryKey: KEYS.me,
    queryFn: ({ signal }) => api.readMe({ signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** A change through the service; what it touches is read anew. */
export function useChange<Input, Output>(
  change: (api: Service['api'], input: Input) => Promise<Output>,
  touches: readonly (readonly string[])[] = [],
  retry: (failed: number, error: unknown) => boolean = () => false,
) {
  const { api } = useService();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (input: Input) => change(api, input),
    retry,
    retryDelay: RETRY_CHANGE_MS,
    // After a failure too: some of it may have been done.
    onSettled: async () => {
      await Promise.all(touches.map((queryKey) => queries.invalidateQueries({ queryKey })));
    },
  });
}

function openSocket(ticket: string, events: LiveEvents): LiveSocket {
  const socket = new WebSocket(
    `${location.origin.replace(/^http/, 'ws')}/api/v1/user/queue/ws?ticket=${ticket}`,
  );
  socket.onopen = events.opened;
  socket.onmessage = events.pinged;
  socket.onclose = events.closed;
  return { send: (text) => socket.send(text), close: () => socket.close() };
}

/** Opens the live link while a person is signed in. */
export function useLiveLink(): LiveLink {
  const { api, queries } = useService();
  const [link] = useState(() =>
    createLiveLink({
      takeTicket: async () => {
        try {
          return (await api.createTicket()).ticket;
        } catch (error) {
          if (error instanceof ApiError && error.code === 'realtime_unavailable') return 'no_ticket';
          throw error;
        }
      },
      open: openSocket,
      onRefresh: () => void queries.invalidateQueries({ queryKey: ['queue'] }),
      later: (ms, run) => {
        const timer = setTimeout(run, ms);
        return () => clearTimeout(timer);
      },
    }),
  );
  useEffect(() => {
    link.start();
    window.addEventListener('online', link.nudge);
    window.addEventListener('offline', link.lose);
    return () => {
      window.removeEventListener('online', link.nudge);
      window.removeEventListener('offline', link.lose);
      link.stop();
    };
  }, [link]);
  return link;
}

/** The service's own health: states only. Undefined until it is known, and again while the service does not answer. */
export function useHealth(): ResultOf<'checkQueue'> | undefined {
  const { api } = useService();
  const { data, isError } = useQuery({
    queryKey: ['health'],
    queryFn: ({ signal }) => api.checkQueue({ signal }),
    refetchInterval: HEALTH_EVERY_MS,
    retry: false,
  });
  // The states of the last answer are kept beside an error.
  return isError ? undefined : data;
}
