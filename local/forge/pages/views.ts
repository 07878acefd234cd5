import { isOpen } from '../actions/runs.ts';
import { isDraft, liveHead } from '../convert/entities.ts';
import type { PullRecord, RepoRecord, RunRecord, TimelineRecord } from '../model.ts';
import { protectionFailure } from '../world/protection.ts';
import { latestStatuses } from '../world/statuses.ts';
import { gitOf, hasAccess, slugOf, timestamp, type World } from '../world.ts';
import { badge, html, type Markup, page } from './html.ts';

const RUNS_SHOWN_MAX = 30;
const CLOSED_SHOWN_MAX = 30;

export function homePage(world: World): string {
  const rows = world.state.repos.map(
    (repo) => html`<tr><td><a href="/${slugOf(repo)}">${slugOf(repo)}</a>${repo.private && ' (private)'}</td>
<td>${repo.pulls.filter((pull) => pull.state === 'open').length} open</td></tr>`,
  );
  return page(
    'Repositories',
    null,
    html`<p class="dim">${world.profile.kind} ${world.profile.version}</p>
<table><thead><tr><th>Repository</th><th>Pull requests</th></tr></thead><tbody>${rows}</tbody></table>`,
  );
}

export async function repoPage(world: World, repo: RepoRecord, httpOrigin: string): Promise<string> {
  const branches = await gitOf(world, repo).branches();
  const slug = slugOf(repo);
  const open = repo.pulls.filter((pull) => pull.state === 'open').reverse();
  const closed = repo.pulls.filter((pull) => pull.state === 'closed').reverse();
  const runs = [...repo.runs].reverse().slice(0, RUNS_SHOWN_MAX);
  const options = branches.map(({ name }) => html`<option>${name}</option>`);
  const baseOptions = branches.map(
    ({ name }) => html`<option${name === repo.defaultBranch && html` selected`}>${name}</option>`,
  );
  return page(
    slug,
    null,
    html`<p>Clone: <code>git clone ${httpOrigin}/${slug}.git</code> (push with <code>http://user:token@…</code>)</p>
<h2>Open pull requests</h2>${pullTable(repo, open)}
<form method="post" action="/${slug}/pulls"><label>From <select name="head">${options}</select></label>
<label>into <select name="base">${baseOptions}</select></label>
<label>Title <input name="title" required maxlength="200"></label>${userSelect(world, repo)}
<button>Open pull request</button></form>
<h2>Closed</h2>${pullTable(repo, closed.slice(0, CLOSED_SHOWN_MAX))}
<h2>Runs</h2><table><thead><tr><th>Run</th><th>Branch</th><th>Commit</th><th>State</th><th>Started</th></tr></thead>
<tbody>${runs.map((run) => runRow(repo, run))}</tbody></table>
<h2>Branches</h2><table><tbody>${branches.map(
      ({ name, sha }) => html`<tr><td>${name}</td><td>${commitLink(repo, sha)}</td></tr>`,
    )}</tbody></table>`,
  );
}

function pullTable(repo: RepoRecord, pulls: readonly PullRecord[]): Markup {
  if (pulls.length === 0) return html`<p class="dim">None.</p>`;
  const rows = pulls.map(
    (
      pull,
    ) => html`<tr><td>#${pull.index}</td><td><a href="/${slugOf(repo)}/pulls/${pull.index}">${pull.title}</a></td>
<td>${pull.author}</td><td>${badge(stateOf(pull))}</td><td>${pull.schedule !== null && 'scheduled'}</td></tr>`,
  );
  return html`<table><thead><tr><th>No.</th><th>Title</th><th>Author</th><th>State</th><th>Auto-merge</th></tr></thead>
<tbody>${rows}</tbody></table>`;
}

function stateOf(pull: PullRecord): string {
  return pull.merged ? 'merged' : pull.state;
}

function commitLink(repo: RepoRecord, sha: string): Markup {
  return html`<a href="/${slugOf(repo)}/commit/${sha}"><code>${sha.slice(0, 10)}</code></a>`;
}

function runRow(repo: RepoRecord, run: RunRecord): Markup {
  return html`<tr><td><a href="/${slugOf(repo)}/actions/runs/${run.index}">${run.workflowFile} #${run.index}</a></td>
<td>${run.branch}</td><td>${commitLink(repo, run.sha)}</td><td>${badge(run.status)}</td>
<td>${timestamp(run.createdAt)}</td></tr>`;
}

/** No sign-in on a local forge: each button says whose hand presses it. */
function userSelect(world: World, repo: RepoRecord): Markup {
  const users = world.state.users.filter((user) => hasAccess(world, repo, user.login, 'write'));
  const rest = world.state.users.filter((user) => !users.includes(user));
  const options = [...users, ...rest].map((user) => html`<option>${user.login}</option>`);
  return html`<label>as <select name="user">${options}</select></label>`;
}

export async function pullPage(world: World, repo: RepoRecord, pull: PullRecord): Promise<string> {
  const head = liveHead(world, pull);
  const slug = slugOf(repo);
  const stat = await gitOf(world, repo).diff(pull.mergeBase ?? pull.headSha, pull.headSha, ['--stat=100']);
  const blocked = pull.state === 'open' ? protectionFailure(world, repo, pull) : null;
  const statuses = latestStatuses(repo, head.sha).map(
    (row) => html`<tr><td>${row.context}</td><td>${badge(row.state)}</td><td>${row.description}</td>
<td>${row.creator}</td><td>${row.targetUrl !== '' && targetLink(row.targetUrl)}</td></tr>`,
  );
  return page(
    `${pull.title} (#${pull.index})`,
    html` / <a href="/${slug}">${slug}</a>`,
    html`<p>${badge(stateOf(pull))}${isDraft(pull) && ' draft'} by ${pull.author}: <code>${head.ref}</code> into
<code>${pull.base}</code>, head ${commitLink(repo, head.sha)}</p>
<p>Conflicts: ${badge(pull.conflict)}. ${blocked !== null && html`Rule: ${blocked}.`}
${pull.mergeCommit !== null && html`Merged as ${commitLink(repo, pull.mergeCommit)} by ${pull.mergedBy}.`}</p>
<p>Auto-merge: ${pull.schedule === null ? 'not scheduled' : html`scheduled by ${pull.schedule.doer} (${pull.schedule.style})`}</p>
${pull.body !== '' && html`<pre>${pull.body}</pre>`}
${pull.merged ? null : actions(world, repo, pull)}
<h2>Statuses of the head</h2>${
      statuses.length === 0
        ? html`<p class="dim">None.</p>`
        : html`<table><thead><tr><th>Context</th><th>State</th><th>Description</th><th>By</th><th></th></tr></thead>
<tbody>${statuses}</tbody></table>`
    }
<h2>Timeline</h2><table><tbody>${pull.timeline.map(timelineRow)}</tbody></table>
<h2>Changes</h2><pre>${stat}</pre><p><a href="/${slug}/pulls/${pull.index}.diff">Full diff</a></p>`,
  );
}

function targetLink(url: string): Markup | null {
  return /^(https?:\/\/|\/)/.test(url) ? html`<a rel="noreferrer" href="${url}">details</a>` : null;
}

function timelineRow(entry: TimelineRecord): Markup {
  return html`<tr id="issuecomment-${entry.id}"><td>${timestamp(entry.at)}</td><td>${entry.user}</td>
<td>${entry.type.replaceAll('_', ' ')}</td><td>${entry.body}${entry.newRef !== undefined && `${entry.oldRef} to ${entry.newRef}`}</td></tr>`;
}

function actions(world: World, repo: RepoRecord, pull: PullRecord): Markup {
  const action = (name: string, label: string, more: Markup | null = null): Markup =>
    html`<form method="post" action="/${slugOf(repo)}/pulls/${pull.index}/${name}">${more}
${userSelect(world, repo)}<button>${label}</button></form>`;
  if (pull.state === 'closed') return action('reopen', 'Reopen');
  const styles = repo.allowedStyles.map((style) => html`<option>${style}</option>`);
  const comment = html`<label>Comment <input name="body" required></label>`;
  return html`${
    pull.schedule === null
      ? action(
          'schedule',
          'Auto merge when all checks succeed',
          html`<label>Style <select name="style">${styles}</select></label>`,
        )
      : action('cancel', 'Cancel auto merge')
  }
${action('approve', 'Approve')}${action('reject', 'Request changes')}${action('comment', 'Comment', comment)}${action('close', 'Close')}`;
}

export function runPage(repo: RepoRecord, run: RunRecord): string {
  const slug = slugOf(repo);
  const jobs = run.jobs.map(
    (job) => html`<h2>${job.name}: ${badge(job.status)}</h2>
<pre tabindex="0">${job.log === '' ? 'No output.' : job.log}</pre>`,
  );
  return page(
    `${run.workflowName || run.workflowFile} #${run.index}`,
    html` / <a href="/${slug}">${slug}</a>`,
    html`<p>${badge(run.status)}: ${run.workflowFile} on <code>${run.branch}</code> at ${commitLink(repo, run.sha)},
pushed by ${run.triggerUser}</p>
<p>${run.title}</p>${
      isOpen(run) &&
      html`<form method="post" action="/${slug}/actions/runs/${run.index}/cancel"><button>Cancel run</button></form>`
    }
${jobs}`,
  );
}

export async function commitPage(world: World, repo: RepoRecord, sha: string): Promise<string | null> {
  const git = gitOf(world, repo);
  const commit = await git.commit(sha);
  if (commit === null) return null;
  const parent = commit.parents[0];
  const diff = parent === undefined ? '' : await git.diff(parent, sha);
  return page(
    commit.message.split('\n')[0] ?? sha,
    html` / <a href="/${slugOf(repo)}">${slugOf(repo)}</a>`,
    html`<p><code>${sha}</code> by ${commit.author.name}, ${timestamp(commit.committer.at)}</p>
<p>Tree <code>${commit.tree}</code>, parents ${commit.parents.map((id) => html`${commitLink(repo, id)} `)}</p>
<pre>${commit.message}</pre><pre tabindex="0">${diff}</pre>`,
  );
}
