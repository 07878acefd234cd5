import {
  type ApiGatewayManagementApiClient,
  DeleteConnectionCommand,
  GoneException,
  PostToConnectionCommand,
} from '@aws-sdk/client-apigatewaymanagementapi';
import type { SocketSender } from '../../ports/realtime.ts';

/** Time limit of a post, in ms; a post is one small request to the gateway's own host. */
const POST_TIMEOUT_MS = 3_000;

/** The gateway's management API. Its address is the client's business: it is that of one stage. */
export function createSocketSender(client: Pick<ApiGatewayManagementApiClient, 'send'>): SocketSender {
  const options = () => ({ abortSignal: AbortSignal.timeout(POST_TIMEOUT_MS) });
  return {
    async post(socketId, message) {
      try {
        await client.send(
          new PostToConnectionCommand({ ConnectionId: socketId, Data: Buffer.from(message) }),
          options(),
        );
        return 'sent';
      } catch (error) {
        return error instanceof GoneException ? 'gone' : 'failed';
      }
    },
    async close(socketId) {
      try {
        await client.send(new DeleteConnectionCommand({ ConnectionId: socketId }), options());
      } catch {
        // Gone, or it ends by itself within two hours; its rows are deleted either way.
      }
    },
  };
}
