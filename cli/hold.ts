import { PAUSE_BOUNDS, PauseReason } from '#core/contracts/repos/pause.ts';
import { type Asked, EXIT, emit, type Repo } from './asked.ts';
import type { CallOptions } from './call.ts';
import { Misuse } from './context.ts';
import { plain, readTime } from './values.ts';

export interface WantedHold {
  readonly reason: string | null;
  /** Null: until it is resumed. */
  readonly forMs: number | null;
}

/** Throws `Misuse` in the words of the command: the service would name fields of its own. */
export function readHold(options: CallOptions): WantedHold {
  const reason = options.reason ?? null;
  if (reason !== null && !PauseReason.safeParse(reason).success)
    throw new Misuse(`A reason has at most ${PAUSE_BOUNDS.reasonChars} characters, all of printable ASCII.`);
  const forMs = options.for === undefined ? null : readTime(options.for);
  if (forMs !== null && (forMs === 0 || forMs > PAUSE_BOUNDS.ms))
    throw new Misuse(`--for takes a time above 0 and of at most ${PAUSE_BOUNDS.days} days.`);
  return { reason, forMs };
}

/** Pauses or drains a queue. */
export async function hold(
  asked: Asked,
  repo: Repo,
  kind: NonNullable<Repo['pause']>['kind'],
  wanted: WantedHold,
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
