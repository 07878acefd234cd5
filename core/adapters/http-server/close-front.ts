import type { Server } from 'node:http';

/** How long connections may stay open, in ms; less than a supervisor grants before it kills. */
const LEFT_OPEN_MS_MAX = 5_000;

/**
 * Ends a server: it takes no more connections, each answer from now on is the last of its connection, and a connection that
 * is open after five seconds is cut, whatever its client still asks or waits for. `cutSockets` cuts those that were upgraded.
 */
export function closeFront(
  front: Server,
  cutSockets: () => void,
  leftOpenMs = LEFT_OPEN_MS_MAX,
): Promise<void> {
  front.prependListener('request', (_request, response) => {
    response.setHeader('connection', 'close');
  });
  // One that is upgraded now would be open for hours. Without a listener it is answered as an ordinary request.
  front.removeAllListeners('upgrade');
  return new Promise((done) => {
    const cut = setTimeout(() => {
      front.closeAllConnections();
      cutSockets();
    }, leftOpenMs);
    front.close(() => {
      clearTimeout(cut);
      done();
    });
    front.closeIdleConnections();
    cutSockets();
  });
}
