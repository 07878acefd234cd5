import type { TokenScope } from '../domain/forge/token-scopes.ts';
import type { MergeStyle } from '../domain/repos/merge-style.ts';
import type { Secret } from '../secret.ts';

/** A repository that the bot can see. */
export interface SeenRepo {
  readonly fullName: string;
  readonly name: string;
  readonly owner: string;
  readonly htmlUrl: string;
  readonly isPrivate: boolean;
  readonly defaultBranch: string;
  /** Styles that it allows, of those that the queue knows; null = the forge does not say. */
  readonly mergeStyles: readonly MergeStyle[] | null;
  /** The style of its merge button; null = a style that the queue does not know, or the forge does not say. */
  readonly defaultMergeStyle: MergeStyle | null;
}

/** The facts that a token shows about its owner, before any repository is named. Throws `ForgeError`. */
export interface ForgeAccount {
  readBotLogin(): Promise<string>;
  listRepos(): Promise<readonly SeenRepo[]>;
  /** The scopes of `BOT_SCOPES` that the forge says the token lacks; what it does not say is not lacking. */
  readMissingScopes(): Promise<readonly TokenScope[]>;
}

export type OpenForgeAccount = (
  instanceUrl: string,
  token: Secret<string>,
  timeoutMs?: number,
) => ForgeAccount;

/** Judged before a tenant's URL is stored; every connection is judged again (A98). */
export type CheckTarget = (url: string) => Promise<'allowed' | 'refused' | 'unresolvable'>;
