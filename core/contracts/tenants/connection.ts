import * as z from 'zod';
import { MERGE_STYLES } from '../../domain/repos/merge-style.ts';
import type { Connection } from '../../domain/repos/repo.ts';
import type { SeenRepo } from '../../ports/forge-account.ts';
import { BotLogin, ForgeToken, ForgeType, formatTime, InstanceUrl, Time, Uuid } from '../fields.ts';

/** The only kind of credential there is. */
const TOKEN_TYPE = 'pat';
const PROVIDER = 'forgejo';

export const ConnectionView = z.object({
  id: Uuid,
  tenant_id: Uuid,
  instance_url: z.string(),
  bot_username: z.string(),
  token_type: z.literal(TOKEN_TYPE),
  created_at: Time,
});
export type ConnectionView = z.infer<typeof ConnectionView>;
export const ConnectionList = z.array(ConnectionView);

export const CreateConnectionBody = z.object({
  instance_url: InstanceUrl,
  token: ForgeToken,
  bot_login: BotLogin,
  forge_type: ForgeType.optional(),
});
export const CreatedConnection = ConnectionView.extend({ provider: z.literal(PROVIDER) });
export const RotatedConnection = z.object({
  rotated: z.literal(true),
  id: Uuid,
  provider: z.literal(PROVIDER),
});

/** Where the forge is cannot change; the kind neither (D-50). */
export const PatchConnectionBody = z.object({
  token: ForgeToken.optional(),
  bot_login: BotLogin.optional(),
  instance_url: z.never().optional(),
  forge_type: z.never().optional(),
});
export const PatchedConnection = z.object({
  id: Uuid,
  instance_url: z.string(),
  bot_username: z.string(),
  token_type: z.literal(TOKEN_TYPE),
  updated_at: Time,
});

export const ForgeRepoView = z.object({
  full_name: z.string(),
  name: z.string(),
  owner: z.string(),
  html_url: z.string(),
  private: z.boolean(),
  default_branch: z.string(),
  merge_styles: z.array(z.enum(MERGE_STYLES)).nullable(),
  default_merge_style: z.enum(MERGE_STYLES).nullable(),
});
export const DiscoveredRepos = z.object({ repos: z.array(ForgeRepoView) });

export const ListForgeReposBody = z.object({
  instance_url: InstanceUrl,
  username: BotLogin,
  token: ForgeToken,
});

export function toForgeRepoView(repo: SeenRepo): z.infer<typeof ForgeRepoView> {
  return {
    full_name: repo.fullName,
    name: repo.name,
    owner: repo.owner,
    html_url: repo.htmlUrl,
    private: repo.isPrivate,
    default_branch: repo.defaultBranch,
    merge_styles: repo.mergeStyles === null ? null : [...repo.mergeStyles],
    default_merge_style: repo.defaultMergeStyle,
  };
}

type Head = Pick<Connection, 'id' | 'tenantId' | 'instanceUrl' | 'botUsername' | 'createdAt'>;

export function toConnectionView(connection: Head): ConnectionView {
  return {
    id: connection.id,
    tenant_id: connection.tenantId,
    instance_url: connection.instanceUrl,
    bot_username: connection.botUsername,
    token_type: TOKEN_TYPE,
    created_at: formatTime(connection.createdAt),
  };
}

export function toCreatedConnection(connection: Head): z.infer<typeof CreatedConnection> {
  return { ...toConnectionView(connection), provider: PROVIDER };
}

export function toRotatedConnection(connection: Pick<Connection, 'id'>): z.infer<typeof RotatedConnection> {
  return { rotated: true, id: connection.id, provider: PROVIDER };
}

export function toPatchedConnection(connection: Connection): z.infer<typeof PatchedConnection> {
  return {
    id: connection.id,
    instance_url: connection.instanceUrl,
    bot_username: connection.botUsername,
    token_type: TOKEN_TYPE,
    updated_at: formatTime(connection.updatedAt),
  };
}
