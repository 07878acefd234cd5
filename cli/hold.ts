import { type Asked, EXIT, emit, type Repo } from './asked.ts';
import { plain } from './values.ts';

/** Pauses or drains a queue. `forMs` null: until it is resumed. */
export async function hold(
  asked: Asked,
  repo: Repo,
  kind: NonNullable<Repo['pause']>['kind'],
  wanted: { readonly reason: string | null; readonly forMs: number | null },
): Promise<number> {
  const { api, machine } = asked;
  const until = wanted.forMs === null ? null : new Date(machine.now() + wanted.forMs).toISOString();
  const input = { id: repo.id, body: { reason: wanted.reason, until } };
  const held = await (kind === 'pause' ? api.pauseRepo(input) : api.drainRepo(input));
  emit(asked, held, () => [`${held.name} ${held.base_branch}: ${sayHold(held.pause)}`]);
  return EXIT.ok;
}

export async function resume(asked: Asked, repo: Repo): Promise<number> {
  const { name, base_branch, ...rest } = await asked.api.resumeRepo({ id: repo.id });
  emit(asked, { name, base_branch, ...rest }, () => [`${name} ${base_branch}: on`]);
  return EXIT.ok;
}

function sayHold(pause: Repo['pause']): string {
  if (pause === null) return 'on';
  const { kind, reason, until } = pause;
  const why = reason === null ? '' : `, because: ${plain(reason)}`;
  return `${kind}${until === null ? ' until it is resumed' : ` until ${until}`}${why}`;
}
