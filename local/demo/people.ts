/** The acts of a person on a forge over its API: the same calls on the fake and on a real one. */
export interface ForgeAccount {
  readonly url: string;
  readonly token: string;
}

export interface PullRequestState {
  readonly number: number;
  readonly title: string;
  readonly state: string;
  readonly merged: boolean;
  readonly mergeable: boolean;
  readonly head: string;
}

/** The forge is still checking for conflicts when a fresh pull request is scheduled: asked again this often. */
const RETRIES_MAX = 160;
const RETRY_MS = 250;

class ForgeRefusal extends Error {
  override readonly name = 'ForgeRefusal';
  constructor(
    readonly call: string,
    readonly status: number,
  ) {
    super(`the forge answered ${status} to ${call}`);
  }
}

export class Person {
  readonly #account: ForgeAccount;
  readonly #repo: string;

  constructor(account: ForgeAccount, slug: string) {
    this.#account = account;
    this.#repo = `/api/v1/repos/${slug}`;
  }

  async login(): Promise<string> {
    const user = (await this.call('GET', '/api/v1/user')) as { login: string };
    return user.login;
  }

  async version(): Promise<string> {
    const answer = (await this.call('GET', '/api/v1/version')) as { version: string };
    return answer.version;
  }

  async deleteRepo(): Promise<void> {
    await this.call('DELETE', this.#repo);
  }

  async createRepo(name: string): Promise<void> {
    await this.call('POST', '/api/v1/user/repos', {
      name,
      auto_init: true,
      default_branch: 'main',
      private: false,
    });
  }

  /** One commit per file on `branch`, which is created from the base when it does not exist yet. */
  async commitFiles(
    branch: string,
    files: Readonly<Record<string, string>>,
    fromBase: boolean,
  ): Promise<void> {
    let first = fromBase;
    for (const [path, content] of Object.entries(files)) {
      const on = first ? 'main' : branch;
      const existing = await this.#fileId(path, on);
      const body = {
        branch: on,
        ...(first ? { new_branch: branch } : {}),
        message: `${existing === null ? 'Add' : 'Change'} ${path}`,
        content: Buffer.from(content).toString('base64'),
        ...(existing === null ? {} : { sha: existing }),
      };
      await this.call(existing === null ? 'POST' : 'PUT', `${this.#repo}/contents/${encodePath(path)}`, body);
      first = false;
    }
  }

  async openPullRequest(branch: string, title: string): Promise<number> {
    const pull = (await this.call('POST', `${this.#repo}/pulls`, {
      head: branch,
      base: 'main',
      title,
      body: '',
    })) as {
      number: number;
    };
    return pull.number;
  }

  /** "Merge when checks succeed", for exactly the head that is there now. */
  async schedule(pr: number): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const { head } = await this.pull(pr);
      try {
        await this.call('POST', `${this.#repo}/pulls/${pr}/merge`, {
          Do: 'squash',
          head_commit_id: head,
          force_merge: false,
          merge_when_checks_succeed: true,
        });
        return;
      } catch (error) {
        // 405: the conflict check has not finished.
        if (!(error instanceof ForgeRefusal) || error.status !== 405 || attempt === RETRIES_MAX) throw error;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  async cancelSchedule(pr: number): Promise<void> {
    await this.call('DELETE', `${this.#repo}/pulls/${pr}/merge`);
  }

  async requireStatus(context: string): Promise<void> {
    await this.call('POST', `${this.#repo}/branch_protections`, {
      rule_name: 'main',
      branch_name: 'main',
      enable_push: false,
      enable_status_check: true,
      status_check_contexts: [context],
      required_approvals: 0,
    });
  }

  async addCollaborator(login: string, permission: 'write' | 'admin'): Promise<void> {
    await this.call('PUT', `${this.#repo}/collaborators/${login}`, { permission });
  }

  async addHook(url: string, secret: string, events: readonly string[]): Promise<void> {
    await this.call('POST', `${this.#repo}/hooks`, {
      type: 'gitea',
      active: true,
      branch_filter: '*',
      events,
      config: { url, content_type: 'json', secret },
    });
  }

  async pull(pr: number): Promise<PullRequestState> {
    const pull = (await this.call('GET', `${this.#repo}/pulls/${pr}`)) as Omit<PullRequestState, 'head'> & {
      head: { sha: string };
    };
    return { ...pull, head: pull.head.sha };
  }

  /** Description of the latest status of one context; null when there is none. */
  async statusOf(sha: string, context: string): Promise<string | null> {
    const answer = (await this.call('GET', `${this.#repo}/commits/${sha}/status`)) as {
      statuses: readonly { context: string; description: string }[] | null;
    };
    return answer.statuses?.find((status) => status.context === context)?.description ?? null;
  }

  async postStatus(
    sha: string,
    status: {
      readonly context: string;
      readonly state: string;
      readonly description: string;
      readonly target_url: string;
    },
  ): Promise<void> {
    await this.call('POST', `${this.#repo}/statuses/${sha}`, status);
  }

  async repoId(): Promise<number> {
    return ((await this.call('GET', this.#repo)) as { readonly id: number }).id;
  }

  /** The ends of all branches; the story has fewer than a page of them. */
  async branches(): Promise<readonly { readonly name: string; readonly sha: string }[]> {
    const listed = (await this.call('GET', `${this.#repo}/branches?limit=50`)) as readonly {
      readonly name: string;
      readonly commit: { readonly id: string };
    }[];
    return listed.map(({ name, commit }) => ({ name, sha: commit.id }));
  }

  async commit(sha: string): Promise<{ readonly tree: string; readonly parents: readonly string[] }> {
    const commit = (await this.call('GET', `${this.#repo}/git/commits/${sha}`)) as {
      parents: readonly { sha: string }[];
    };
    // The commit call of a real forge names the commit as its tree.
    const peeled = `${this.#repo}/git/trees/${sha}%5E%7Btree%7D?per_page=1`;
    const tree = (await this.call('GET', peeled)) as { sha: string };
    return { tree: tree.sha, parents: commit.parents.map((parent) => parent.sha) };
  }

  async baseTip(): Promise<string> {
    const branch = (await this.call('GET', `${this.#repo}/branches/main`)) as { commit: { id: string } };
    return branch.commit.id;
  }

  async call(method: string, path: string, body?: unknown): Promise<unknown> {
    const response = await fetch(`${this.#account.url}${path}`, {
      method,
      headers: {
        authorization: `token ${this.#account.token}`,
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok)
      throw new ForgeRefusal(`${method} ${path.replace(/[0-9a-f]{40}/g, '{sha}')}`, response.status);
    return text === '' ? null : JSON.parse(text);
  }

  async #fileId(path: string, branch: string): Promise<string | null> {
    try {
      const file = (await this.call(
        'GET',
        `${this.#repo}/contents/${encodePath(path)}?ref=${encodeURIComponent(branch)}`,
      )) as {
        sha: string;
      };
      return file.sha;
    } catch (error) {
      if (error instanceof ForgeRefusal && error.status === 404) return null;
      throw error;
    }
  }
}

function encodePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}
