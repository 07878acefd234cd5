import { ForgeError } from '#core/ports/forge.ts';
import type { ForgeHook, HookSpec } from '#core/ports/forge-admin.ts';
import { readAllPages } from './wire/paging.ts';
import { readBody } from './wire/read-body.ts';
import { HookRow, HookRows } from './wire/schema-admin.ts';
import type { ForgeTransport } from './wire/transport.ts';

export async function listHooks(transport: ForgeTransport): Promise<readonly ForgeHook[]> {
  const call = { method: 'GET', label: 'GET hooks', path: [...transport.repoPath, 'hooks'] } as const;
  const rows = await readAllPages(transport, call, (answer) => readBody(HookRows, call, answer));
  return rows.filter((row) => row !== null).map(toHook);
}

/** As `listHooks`; null: the bot is no administrator of the repository and may not list hooks. */
export async function listOwnHooks(transport: ForgeTransport): Promise<readonly ForgeHook[] | null> {
  try {
    return await listHooks(transport);
  } catch (error) {
    if (error instanceof ForgeError && (error.kind === 'denied' || error.kind === 'missing')) return null;
    throw error;
  }
}

export async function createHook(transport: ForgeTransport, spec: HookSpec): Promise<ForgeHook> {
  const call = {
    method: 'POST',
    label: 'POST hooks',
    path: [...transport.repoPath, 'hooks'],
    body: {
      // Both forges know this type.
      type: 'gitea',
      active: true,
      branch_filter: '*',
      events: spec.events,
      config: { url: spec.url, content_type: 'json', secret: spec.secret.reveal() },
    },
  } as const;
  return toHook(readBody(HookRow, call, await transport.request(call)));
}

/** Deletes a hook; one that is gone already is no error. */
export async function deleteHook(transport: ForgeTransport, id: number): Promise<void> {
  const call = {
    method: 'DELETE',
    label: 'DELETE hooks/{id}',
    path: [...transport.repoPath, 'hooks', String(id)],
  } as const;
  const answer = await transport.exchange(call);
  if (answer.status === 404 && answer.isJson) return;
  if (answer.status !== 204) throw transport.failure(call, answer);
}

function toHook(row: HookRow): ForgeHook {
  return {
    id: row.id,
    url: row.config.url,
    isJson: row.config.content_type === 'json',
    active: row.active,
    branchFilter: row.branch_filter,
    events: row.events,
  };
}
