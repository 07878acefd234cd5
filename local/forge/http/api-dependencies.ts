import { addDependency, removeDependency } from '../world/dependencies.ts';
import { slugOf } from '../world.ts';
import {
  type Call,
  callerOf,
  created,
  ok,
  paged,
  pullOf,
  REPO,
  Refusal,
  type Route,
  route,
} from './router.ts';

/** The pull requests that have to be closed before this one; of pull requests only, since the fake has no issues. */
function listDependencies(call: Call) {
  const { repo } = call;
  const { dependsOn = [], index } = pullOf(call);
  const rows = repo.pulls.filter((other) => dependsOn.includes(other.index));
  const { page, headers } = paged(call, rows, `/api/v1/repos/${slugOf(repo)}/issues/${index}/dependencies`);
  return ok(
    page.map((other) => ({ id: other.id, number: other.index, title: other.title, state: other.state })),
    headers,
  );
}

function change(apply: typeof addDependency) {
  return (call: Call) => {
    const { world, repo } = call;
    const pull = pullOf(call);
    const before = repo.pulls.find(({ index }) => index === call.body.index);
    if (before === undefined) throw new Refusal(404, "The target couldn't be found.");
    apply(world, pull, before, callerOf(call));
    return created({ id: pull.id, number: pull.index, title: pull.title, state: pull.state });
  };
}

const DEPENDENCIES = `${REPO}/issues/:n/dependencies`;

export const DEPENDENCY_ROUTES: readonly Route[] = [
  route('GET', DEPENDENCIES, listDependencies, { scope: 'issue' }),
  route('POST', DEPENDENCIES, change(addDependency), { scope: 'issue' }),
  route('DELETE', DEPENDENCIES, change(removeDependency), { scope: 'issue' }),
];
