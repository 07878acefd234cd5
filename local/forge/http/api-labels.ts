import { makeLabel, setLabel } from '../world/labels.ts';
import {
  type Call,
  callerOf,
  created,
  NO_CONTENT,
  ok,
  pullOf,
  REPO,
  Refusal,
  type Route,
  route,
} from './router.ts';

function create({ world, repo, body }: Call) {
  if (typeof body.name !== 'string' || body.name === '') throw new Refusal(422, 'name is empty');
  return created(makeLabel(world, repo, body.name));
}

function add(call: Call) {
  const { world, repo, body } = call;
  const pull = pullOf(call);
  const wanted = Array.isArray(body.labels) ? body.labels : [];
  const known = (repo.labels ?? []).filter(({ id, name }) => wanted.includes(id) || wanted.includes(name));
  for (const { name } of known) setLabel(world, pull, name, callerOf(call), true);
  return ok((pull.labels ?? []).map((name) => ({ name })));
}

function remove(call: Call) {
  const { world, repo } = call;
  const label = repo.labels?.find(({ id }) => String(id) === call.params.id);
  if (label === undefined) throw new Refusal(404, "The target couldn't be found.");
  setLabel(world, pullOf(call), label.name, callerOf(call), false);
  return NO_CONTENT;
}

const LABELS = `${REPO}/issues/:n/labels`;

export const LABEL_ROUTES: readonly Route[] = [
  route('POST', `${REPO}/labels`, create, { scope: 'issue' }),
  route('POST', LABELS, add, { scope: 'issue' }),
  route('DELETE', `${LABELS}/:id`, remove, { scope: 'issue' }),
];
