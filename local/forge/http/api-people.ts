import { convertRepo, convertUser } from '../convert/entities.ts';
import type { AccessLevel } from '../model.ts';
import { createRepo } from '../set-up.ts';
import { accessOf, findRepo, findUser, hasAccess } from '../world.ts';
import {
  type Call,
  callerOf,
  created,
  flagField,
  NO_CONTENT,
  ok,
  paged,
  REPO,
  Refusal,
  type Route,
  route,
  textField,
} from './router.ts';

const LEVELS: readonly AccessLevel[] = ['read', 'write', 'admin'];

/** A repository of the caller; with `auto_init` it has a README. */
async function createOwnRepo(call: Call) {
  const { world } = call;
  const [owner, name] = [callerOf(call), textField(call, 'name')];
  if (name === '') throw new Refusal(422, 'name is empty');
  if (findRepo(world, owner, name) !== undefined)
    throw new Refusal(409, 'The repository with the same name already exists.');
  const repo = await createRepo(world, {
    owner,
    name,
    private: flagField(call, 'private'),
    defaultBranch: textField(call, 'default_branch') || 'main',
    ...(flagField(call, 'auto_init') ? { files: { 'README.md': `# ${name}\n` } } : {}),
  });
  world.store.changed();
  return created(convertRepo(world, repo, owner));
}

function deleteRepo(call: Call) {
  const { world, repo } = call;
  world.state.repos = world.state.repos.filter((each) => each !== repo);
  world.store.changed();
  return NO_CONTENT;
}

function personOf(call: Call): string {
  const user = findUser(call.world, call.params.login ?? '');
  if (user === undefined) throw new Refusal(404, 'user does not exist');
  return user.login;
}

/** Without a level it is `write`. */
function addCollaborator(call: Call) {
  const level = LEVELS.find((each) => each === textField(call, 'permission')) ?? 'write';
  call.repo.collaborators[personOf(call)] = level;
  call.world.store.changed();
  return NO_CONTENT;
}

function removeCollaborator(call: Call) {
  delete call.repo.collaborators[personOf(call)];
  call.world.store.changed();
  return NO_CONTENT;
}

/** The rights of a person here: asked by an administrator, or by that person. */
function readPermission(call: Call) {
  const { world, repo } = call;
  const caller = callerOf(call);
  const isOwn = caller.toLowerCase() === (call.params.login ?? '').toLowerCase();
  if (!isOwn && accessOf(world, repo, caller) !== 'admin')
    throw new Refusal(403, 'Only admins can query all permissions');
  const login = personOf(call);
  const isOwner =
    repo.owner.toLowerCase() === login.toLowerCase() || findUser(world, login)?.siteAdmin === true;
  // What a team lends part by part is not in it.
  const { teams: _, ...untold } = repo;
  const permission = isOwner ? 'owner' : accessOf(world, untold, login);
  return ok({ permission, role_name: permission, user: convertUser(world, login) });
}

/** Who can be given work: the owner that is a person, those who may write, and all of a team, which may only read. */
function listAssignees(call: Call) {
  const { world, repo } = call;
  const own = repo.teams === undefined ? [repo.owner] : [];
  const logins = [...own, ...Object.keys(repo.collaborators)];
  const writers = logins.filter((login) => hasAccess(world, repo, login, 'write'));
  const lent = (repo.teams ?? []).flatMap(({ members }) => members);
  return ok([...new Set([...writers, ...lent])].map((login) => convertUser(world, login)));
}

/** Both forges answer 405 for a repository that belongs to a person. */
function listTeams({ repo: { teams } }: Call) {
  if (teams === undefined) throw new Refusal(405, 'repo is not owned by an organization');
  return ok(
    teams.map(({ id, name, code }) => ({
      id,
      name,
      permission: code === 'admin' ? 'admin' : 'none',
      units_map: { 'repo.code': code, 'repo.pulls': 'read' },
    })),
  );
}

/** Only members of the team and owners of its organization are told. */
function listTeamMembers(call: Call) {
  const { world, params } = call;
  const team = world.state.repos
    .flatMap(({ teams }) => teams ?? [])
    .find(({ id }) => String(id) === params.id);
  if (team === undefined) throw new Refusal(404, "The target couldn't be found.");
  if (team.hidden === true) throw new Refusal(403, 'Must be a team member');
  const { page, headers } = paged(call, team.members, `/api/v1/teams/${team.id}/members`);
  return ok(
    page.map((login) => convertUser(world, login)),
    headers,
  );
}

/** Deploy keys, for administrators: this forge takes none. */
function listKeys() {
  return ok([]);
}

export const PEOPLE_ROUTES: readonly Route[] = [
  route('POST', '/api/v1/user/repos', createOwnRepo, { access: 'none' }),
  route('DELETE', REPO, deleteRepo, { access: 'admin', whenArchived: true }),
  route('PUT', `${REPO}/collaborators/:login`, addCollaborator, { access: 'admin' }),
  route('DELETE', `${REPO}/collaborators/:login`, removeCollaborator, { access: 'admin' }),
  route('GET', `${REPO}/collaborators/:login/permission`, readPermission),
  route('GET', `${REPO}/assignees`, listAssignees),
  route('GET', `${REPO}/teams`, listTeams),
  route('GET', '/api/v1/teams/:id/members', listTeamMembers, { scope: 'organization', access: 'none' }),
  route('GET', `${REPO}/keys`, listKeys, { access: 'admin' }),
];
