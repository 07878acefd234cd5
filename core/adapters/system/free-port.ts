import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Lowest port that is tried. It is below the range from which Linux (32768 on), macOS and Windows (49152 on) take the
 * ports of outgoing connections and of servers that name none: a port of that range may be taken again before it is
 * used.
 */
export const FREE_PORT_MIN = 20_000;
export const FREE_PORT_MAX = 29_999;
const TRIES_MAX = 200;
/**
 * Ports among which each process looks first: two processes that look at once, as tests do, seldom find the same port.
 */
const OWN_PORTS = 100;
const OWN_TRIES_MAX = 100;
const OWN_MIN = FREE_PORT_MIN + ((process.pid * OWN_PORTS) % (FREE_PORT_MAX + 1 - FREE_PORT_MIN));

/** Ports that this process has tried. */
const given = new Set<number>();

/** Finds a loopback port on which no server listens now, for a server that starts later. Throws where none is found. */
export async function findFreePort(): Promise<number> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const port =
      tries < OWN_TRIES_MAX ? OWN_MIN + randomInt(OWN_PORTS) : randomInt(FREE_PORT_MIN, FREE_PORT_MAX + 1);
    if (given.has(port)) continue;
    given.add(port);
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port between ${FREE_PORT_MIN} and ${FREE_PORT_MAX} after ${TRIES_MAX} tries`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((done) => {
    const probe = createServer();
    probe.once('error', () => done(false)).listen(port, '127.0.0.1', () => probe.close(() => done(true)));
  });
}
