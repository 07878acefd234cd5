import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { SocketHub } from './socket-hub.ts';

/**
 * Routes upgrades: those of that path open sockets; all others are ordinary requests, as on a server that does not
 * upgrade.
 */
export function routeUpgrades(front: Server, path: string, hub: SocketHub): void {
  front.on('upgrade', (request: IncomingMessage, line: Duplex, head: Buffer) => {
    // The server listens no more to a line that asks for an upgrade, and an error without a listener ends the process.
    line.on('error', () => line.destroy());
    const address = `http://gateway${request.url ?? '/'}`;
    // A target that the parser of HTTP takes may be none of an address, and an exception here ends the process.
    if (!URL.canParse(address)) return void line.destroy();
    const target = new URL(address).pathname;
    const isSocket = request.headers.upgrade?.toLowerCase() === 'websocket' && request.method === 'GET';
    if (isSocket && target === path) return hub.upgrade(request, line, head);
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(line as Parameters<ServerResponse['assignSocket']>[0]);
    response.on('finish', () => line.end());
    front.emit('request', request, response);
  });
}
