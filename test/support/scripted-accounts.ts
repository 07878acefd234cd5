import type { TokenScope } from '#core/domain/forge/token-scopes.ts';
import { ForgeError } from '#core/ports/forge.ts';
import type { ForgeAccount, SeenRepo } from '#core/ports/forge-account.ts';
import type { ForgeAdmin, ForgeRepo } from '#core/ports/forge-admin.ts';
import type { Secret } from '#core/secret.ts';

export const BOT = 'queue-bot';

/** A forge as far as the API asks one: who a token is, what it sees, which scheduled merges it takes back. */
export class ScriptedAccounts {
  login: string | ForgeError = BOT;
  /** Whose these tokens are; any other is of `login`. */
  readonly loginOf = new Map<string, string>();
  /** Runs before the forge says whose a token is. */
  onLogin: ((token: string) => Promise<void>) | null = null;
  repos: readonly SeenRepo[] | ForgeError = [];
  /** The bot's view of any repository that is claimed. */
  access: Partial<ForgeRepo> | ForgeError = {};
  /** The id of the repository that has the name. */
  repoId: number | ForgeError = 1;
  cancelFault: ForgeError | null = null;
  readonly cancelled: number[] = [];
  /** Scopes that a pasted token lacks. */
  missingScopes: readonly TokenScope[] = [];
  /** Runs before each scheduled merge is taken back. */
  onCancel: (() => Promise<void>) | null = null;
  readonly asked: string[] = [];
  /** Calls of setting up that answer. */
  setUp: Partial<ForgeAdmin> = {};
  /** The answer to a call that is not scripted. */
  fault: ForgeError = new ForgeError('unreachable', 'any', null);

  open(instanceUrl: string, token: Secret<string>): ForgeAccount {
    this.asked.push(instanceUrl);
    if (token.reveal() === '') throw new Error('a token is never empty');
    return {
      readBotLogin: async () => {
        await this.onLogin?.(token.reveal());
        return tell(this.loginOf.get(token.reveal()) ?? this.login);
      },
      listRepos: () => tell(this.repos),
      readMissingScopes: async () => this.missingScopes,
    };
  }

  adminOf(slug: string): ForgeAdmin {
    const no = () => Promise.reject(this.fault);
    const readRepo = async (): Promise<ForgeRepo> => {
      if (this.access instanceof ForgeError) throw this.access;
      return {
        fullName: slug,
        defaultBranch: 'main',
        archived: false,
        isMirror: false,
        hasActions: true,
        isAdmin: false,
        canPush: true,
        allowedStyles: null,
        ...this.access,
      };
    };
    return {
      readVersion: no,
      readRepo,
      readRepoId: () => tell(this.repoId),
      readBranchTip: no,
      listHooks: no,
      createHook: no,
      deleteHook: no,
      readProtection: no,
      listRules: no,
      createRule: no,
      editRule: no,
      listFolder: no,
      commitFile: no,
      listBranches: no,
      findRefInTheWay: no,
      deleteBranch: no,
      findOpenPull: no,
      openPull: no,
      readGate: no,
      listStatusHistory: no,
      cancelAutoMerge: async (pr) => {
        await this.onCancel?.();
        if (this.cancelFault !== null) throw this.cancelFault;
        this.cancelled.push(pr);
        return 'cancelled';
      },
      ...this.setUp,
    };
  }
}

async function tell<T>(value: T | ForgeError): Promise<T> {
  if (value instanceof ForgeError) throw value;
  return value;
}
