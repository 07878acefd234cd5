import type { StatusWriter } from '#core/ports/forge.ts';
import { readBody } from './wire/read-body.ts';
import { StatusRow } from './wire/schema.ts';
import type { LeasedTransport } from './wire/transport.ts';

/**
 * Posts commit statuses; no other code does. A test holds the import graph to it: only the engine reaches this file
 * (A6).
 */
export function createStatusWriter(transport: LeasedTransport): StatusWriter {
  return {
    async postStatus(sha, status) {
      const call = {
        method: 'POST',
        label: 'POST statuses/{sha}',
        path: [...transport.repoPath, 'statuses', sha],
        body: {
          state: status.state,
          context: status.context,
          description: status.description,
          target_url: status.targetUrl ?? '',
        },
      } as const;
      // An answer that is no status leaves open whether the post was stored.
      readBody(StatusRow, call, await transport.request(call));
    },
  };
}
