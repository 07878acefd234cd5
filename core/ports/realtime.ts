/** `gone`: the client has left, nothing will ever arrive there. `failed`: not now. */
export type PostResult = 'sent' | 'gone' | 'failed';

/** Sockets that the gateway holds open. None of the calls throws. */
export interface SocketSender {
  post(socketId: string, message: string): Promise<PostResult>;
  /** Gone already is fine. */
  close(socketId: string): Promise<void>;
}
