import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { Call } from './call.ts';
import { mapTexts } from './secrets.ts';

/** Standard input and output, which know the calls that have no answer yet. */
export class ToolTransport extends StdioServerTransport {
  readonly #hide: Call['hide'];
  readonly #open = new Set<unknown>();
  #whenAnswered: (() => void) | null = null;

  constructor(hide: Call['hide']) {
    super();
    this.#hide = hide;
    // The library calls this one first, then its own.
    this.onmessage = (message) => this.#note(message);
  }

  /** Secrets are hidden here, and not at each answer: the library makes answers of its own, such as of an error. */
  override async send(message: JSONRPCMessage): Promise<void> {
    await super.send(mapTexts(message, this.#hide) as JSONRPCMessage);
    if (!('method' in message)) this.#end(message.id);
  }

  /** Resolves once each call that has come is answered, after this time at the latest. */
  async answered(timeMs: number): Promise<void> {
    if (this.#open.size === 0) return;
    await new Promise<void>((done) => {
      const timer = setTimeout(done, timeMs);
      this.#whenAnswered = () => {
        clearTimeout(timer);
        done();
      };
    });
  }

  #note(message: JSONRPCMessage): void {
    if (!('method' in message)) return;
    if ('id' in message) this.#open.add(message.id);
    // Such a call gets no answer.
    else if (message.method === 'notifications/cancelled') this.#end(message.params?.requestId);
  }

  #end(id: unknown): void {
    this.#open.delete(id);
    if (this.#open.size === 0) this.#whenAnswered?.();
  }
}
