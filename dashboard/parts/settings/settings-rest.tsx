import { useState } from 'react';
import { useLocation } from 'wouter';
import { useChange } from '../../data/hooks.ts';
import { path } from '../../routes.ts';
import type { StatusEntry } from '../../view/blocker.ts';
import { Button, Confirm } from '../frame/basics.tsx';
import { Problem } from '../frame/errors.tsx';
import { hostOf } from '../frame/repo-frame.tsx';

const TOUCHES = [['queue']] as const;

export function Protection({ repo }: { readonly repo: StatusEntry }) {
  const protect = useChange(
    (api, enabled: boolean) => api.protectRepo({ id: repo.id, body: { enabled } }),
    TOUCHES,
  );
  const requested = repo.provisioning.protection.status !== 'not_requested';
  return (
    <section className="panel" aria-labelledby="protection-title">
      <div className="panel-head">
        <h2 id="protection-title">Branch protection</h2>
        <Button busy={protect.isPending} onClick={() => protect.mutate(!requested)}>
          {requested ? 'Stop managing it' : 'Manage it for me'}
        </Button>
      </div>
      <p className="hint">
        {requested
          ? 'Mergeyard keeps its check required on the base branch. If you stop this, the rule stays on the forge as it is.'
          : 'Mergeyard does not touch your branch rule. Make its check required yourself, or the queue will not stage.'}
      </p>
      <Problem error={protect.error} />
    </section>
  );
}

export function Settled({ repo }: { readonly repo: StatusEntry }) {
  return (
    <section className="panel" aria-labelledby="settled-title">
      <h2 id="settled-title">Settled when it was added</h2>
      <dl className="facts">
        <dt>Base branch</dt>
        <dd>
          <span className="branch">{repo.base_branch}</span>
        </dd>
        <dt>Merge style</dt>
        <dd>{repo.merge_style}, unless a pull request is scheduled with another</dd>
        <dt>Auto-merge in that style</dt>
        <dd>{repo.automerge ? 'checked during setup' : 'not checked during setup'}</dd>
        <dt>Bot</dt>
        <dd>{repo.connection === null ? 'its connection is gone' : repo.connection.bot_username}</dd>
        <dt>Id</dt>
        <dd>
          <code>{repo.id}</code>
        </dd>
      </dl>
      <p className="hint">
        Login and token of the bot are changed on the page Connections. To change the others, remove the
        repository and add it again.
      </p>
    </section>
  );
}

export function Remove({ repo }: { readonly repo: StatusEntry }) {
  const [asking, setAsking] = useState(false);
  const [, navigate] = useLocation();
  const remove = useChange(
    async (api, id: string) => {
      await api.deleteRepo({ id });
      // Before the lists are read anew: this page of a repository that is gone would say that it was not found.
      navigate(path.home());
    },
    [['queue'], ['billing']],
  );
  return (
    <section className="panel danger-zone" aria-labelledby="remove-title">
      <div className="panel-head">
        <h2 id="remove-title">Remove from the queue</h2>
        <Button kind="danger" onClick={() => setAsking(true)}>
          Remove from the queue
        </Button>
      </div>
      <p className="hint">
        Webhook and branch rule stay on the forge: a required check that is never posted blocks merges until
        you remove it.
      </p>
      <Problem error={remove.error} />
      <Confirm
        open={asking}
        title={`Remove ${repo.name} on ${hostOf(repo.instance_url)}?`}
        onClose={() => setAsking(false)}
      >
        <p>
          Its settings, queue and secrets are deleted here. On the forge the queue takes back what it posted
          and deletes its branches; scheduled auto-merges, webhook and branch rule stay.
        </p>
        <div className="row">
          <Button
            kind="danger"
            busy={remove.isPending}
            onClick={() => remove.mutate(repo.id, { onError: () => setAsking(false) })}
          >
            Remove it
          </Button>
          <Button onClick={() => setAsking(false)}>Keep it</Button>
        </div>
      </Confirm>
    </section>
  );
}
