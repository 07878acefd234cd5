import {
  createLiveLink,
  type LiveDeps,
  type LiveEvents,
  type LiveState,
  sayLive,
} from '../../../../dashboard/data/live.ts';

/** Ticket, socket and timers in the test's hand. */
function openBench(tickets: (string | Error)[]) {
  const timers: { at: number; run: () => void; live: boolean }[] = [];
  const sockets: { ticket: string; events: LiveEvents; closed: boolean; sent: string[] }[] = [];
  const states: LiveState[] = [];
  let now = 0;
  let refreshes = 0;
  let isHeld = false;
  const deps: LiveDeps = {
    takeTicket: async () => {
      if (isHeld) await new Promise<never>(() => undefined);
      const next = tickets.shift() ?? new Error('no more tickets');
      if (next instanceof Error) throw next;
      return next;
    },
    open: (ticket, events) => {
      const socket = { ticket, events, closed: false, sent: [] as string[] };
      sockets.push(socket);
      return {
        send: (text) => void socket.sent.push(text),
        close: () => {
          socket.closed = true;
        },
      };
    },
    onRefresh: () => {
      refreshes += 1;
    },
    later: (ms, run) => {
      const timer = { at: now + ms, run, live: true };
      timers.push(timer);
      return () => {
        timer.live = false;
      };
    },
  };
  const link = createLiveLink(deps);
  link.state.watch(() => states.push(link.state.read()));
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
  };
  const pass = async (ms: number): Promise<void> => {
    const until = now + ms;
    for (;;) {
      const next = timers.filter((timer) => timer.live && timer.at <= until).sort((a, b) => a.at - b.at)[0];
      if (next === undefined) break;
      now = next.at;
      next.live = false;
      next.run();
      await settle();
    }
    now = until;
  };
  const start = async (): Promise<void> => {
    link.start();
    await settle();
  };
  return {
    link,
    sockets,
    states,
    pass,
    settle,
    start,
    refreshes: () => refreshes,
    /** From now on no answer comes to a question for a ticket. */
    holdTickets: () => {
      isHeld = true;
    },
    live: () => timers.filter((each) => each.live).length,
  };
}

test('a socket that opens is live, looks once, and pings of one moment are one look', async () => {
  const bench = openBench(['t1']);
  await bench.start();
  bench.sockets[0]?.events.opened();
  expect(bench.link.state.read()).toEqual({ kind: 'live' });
  expect(bench.refreshes()).toBe(1);
  for (let ping = 0; ping < 5; ping += 1) bench.sockets[0]?.events.pinged();
  await bench.pass(500);
  expect(bench.refreshes()).toBe(2);
});

test('without tickets it polls, says so, and asks again seldom (A116)', async () => {
  const bench = openBench(['no_ticket', 't2']);
  await bench.start();
  expect(bench.link.state.read()).toEqual({ kind: 'polling', reason: 'no_ticket' });
  expect(sayLive(bench.link.state.read())).toMatchObject({ name: 'Every 30 s' });
  await bench.pass(60_000);
  expect(bench.sockets).toHaveLength(0);
  await bench.pass(300_000);
  expect(bench.sockets).toHaveLength(1);
});

test('a socket that drops falls back at once and tries again, slower and slower', async () => {
  const bench = openBench(['t1', 't2', new Error('silent'), new Error('silent'), 't3']);
  await bench.start();
  bench.sockets[0]?.events.opened();
  bench.sockets[0]?.events.closed();
  expect(bench.link.state.read()).toEqual({ kind: 'polling', reason: 'dropped' });
  expect(bench.sockets[0]?.closed).toBe(true);
  await bench.pass(1_000);
  expect(bench.sockets).toHaveLength(2);
  bench.sockets[1]?.events.closed();
  await bench.pass(3_000);
  expect(bench.link.state.read()).toEqual({ kind: 'polling', reason: 'offline' });
  await bench.pass(10_000 + 30_000);
  expect(bench.sockets.map((socket) => socket.ticket)).toEqual(['t1', 't2', 't3']);
});

test('a message of an old socket changes nothing', async () => {
  const bench = openBench(['t1', 't2']);
  await bench.start();
  const [first] = bench.sockets;
  first?.events.opened();
  first?.events.closed();
  await bench.pass(1_000);
  bench.sockets[1]?.events.opened();
  first?.events.closed();
  first?.events.opened();
  expect(bench.link.state.read()).toEqual({ kind: 'live' });
});

test('it speaks before the gateway hangs up, and renews before the end of the socket', async () => {
  const bench = openBench(['t1', 't2']);
  await bench.start();
  bench.sockets[0]?.events.opened();
  await bench.pass(9 * 60_000);
  expect(bench.sockets[0]?.sent.length).toBeGreaterThanOrEqual(2);
  await bench.pass(110 * 60_000);
  expect(bench.sockets[0]?.closed).toBe(true);
  expect(bench.sockets).toHaveLength(2);
});

test('while a socket is renewed it does not say that the page is live, however long the ticket takes', async () => {
  const bench = openBench(['t1', 't2']);
  await bench.start();
  bench.sockets[0]?.events.opened();
  bench.holdTickets();
  await bench.pass(111 * 60_000);
  expect([bench.sockets[0]?.closed, bench.sockets.length]).toEqual([true, 1]);
  expect(bench.link.state.read()).toEqual({ kind: 'connecting' });
  bench.link.stop();
});

test('stopped, it holds neither timer nor socket, and a late ticket opens nothing', async () => {
  const bench = openBench(['t1', 't2']);
  await bench.start();
  bench.sockets[0]?.events.opened();
  bench.link.stop();
  expect(bench.sockets[0]?.closed).toBe(true);
  expect(bench.live()).toBe(0);
  bench.link.start();
  bench.link.stop();
  await bench.settle();
  expect(bench.sockets).toHaveLength(1);
});

test('back on the network it does not wait for its turn', async () => {
  const bench = openBench([new Error('offline'), 't1']);
  await bench.start();
  expect(bench.link.state.read().kind).toBe('polling');
  bench.link.nudge();
  await bench.settle();
  expect(bench.sockets).toHaveLength(1);
});

test('a network that is gone is said at once, though the socket is open still, and comes back with the network', async () => {
  const bench = openBench(['t1', 't2']);
  await bench.start();
  bench.sockets[0]?.events.opened();
  bench.link.lose();
  expect(bench.link.state.read()).toEqual({ kind: 'polling', reason: 'offline' });
  expect(bench.sockets[0]?.closed).toBe(true);
  bench.link.nudge();
  await bench.settle();
  bench.sockets[1]?.events.opened();
  expect(bench.link.state.read().kind).toBe('live');
});
