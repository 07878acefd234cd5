import { TURN_NAMES } from '#core/contracts/pulls/turn-names.ts';
import { type ApiClient, ApiError, type ResultOf } from '#core/contracts/routes/client.ts';
import { sayEstimate } from '../dashboard/view/pull.ts';
import { type Asked, EXIT, emit, type Repo } from './asked.ts';
import { sayRepo } from './naming.ts';
import { Refusal } from './refusal.ts';
import { plain } from './values.ts';

export type Story = ResultOf<'readPull'>;

const POLL_MS = 10_000;
/**
 * How long a new schedule may stay unknown to the queue: the queue knows it after its next look, and an engine at rest
 * has to start first.
 */
const FIRST_LOOK_MS_MAX = 180_000;
/** How much earlier than asked for a timer may ring. */
const TIMER_MS = 20;
/** How long a fault may be an old one: the queue shows it until it has seen the push that repairs it. */
const FAULT_STANDS_MS = 40_000;

export async function status(asked: Asked): Promise<number> {
  const { repos } = await asked.api.readQueueStatus();
  emit(asked, repos, () =>
    repos.map((repo) => `${sayRepo(repo, repos)} ${repo.base_branch}: ${sayState(repo)}`),
  );
  return EXIT.ok;
}

type StatusEntry = ResultOf<'readQueueStatus'>['repos'][number];

function sayState({ queue_enabled: isOn, hold_reason: held, pause }: StatusEntry): string {
  if (!isOn) return 'off';
  if (held != null) return `on hold (${plain(held.replaceAll('_', ' '))})`;
  return pause === null ? 'on' : pause.kind;
}

export async function queue(asked: Asked, repo: Repo): Promise<number> {
  const { repos } = await asked.api.readActivity();
  const seen = repos.find(({ repo_id }) => repo_id === repo.id)?.queue ?? null;
  emit(asked, seen?.line ?? null, () => (seen === null ? ['The queue is not known.'] : describeLine(seen)));
  return EXIT.ok;
}

type Queue = NonNullable<ResultOf<'readActivity'>['repos'][number]['queue']>;

/**
 * Lines for the places of a queue. The service lists the first of a long line, and counts the rest. A pull request that was
 * bounced stands among them until its author acts: it has no place, as in its own story.
 */
export function describeLine(queue: Pick<Queue, 'line' | 'line_more'>): readonly string[] {
  const lines = listPlaces(queue);
  return queue.line.every(isBounced) && queue.line_more === 0 ? ['no pull request waits', ...lines] : lines;
}

/** The lines of `describeLine`, of which there are none for an empty queue. */
export function listPlaces({ line, line_more: more }: Pick<Queue, 'line' | 'line_more'>): readonly string[] {
  return [
    ...line.filter((place) => !isBounced(place)).map((place, at) => `${at + 1}. ${describePlace(place)}`),
    ...(more > 0 ? [`and ${more} more`] : []),
    ...line.filter(isBounced).map((place) => `not in the queue: ${describePlace(place)}`),
  ];
}

type Place = Queue['line'][number];
const isBounced = ({ state }: Place): boolean => state === 'bounced';

const describePlace = ({ pr, title, state, priority }: Place): string =>
  `#${pr} ${plain(title)} (${state}${priority === 'normal' ? '' : `, ${priority}`})`;

export async function why(asked: Asked, repo: Repo, number: number): Promise<number> {
  const story = await readStory(asked.api, repo, number);
  emit(asked, story, () => describe(story));
  return EXIT.ok;
}

/** The repository was found before, so that what is not found is the pull request: the refusal says so. */
export async function readStory(api: ApiClient, repo: Repo, number: number): Promise<Story> {
  try {
    return await api.readPull({ id: repo.id, number });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    const message = `The queue of ${repo.name} ${repo.base_branch} knows no pull request #${number}.`;
    throw new Refusal(error, message, NOT_KNOWN_STEP);
  }
}

const NOT_KNOWN_STEP = 'If it was scheduled just now, ask again in a minute; else schedule it first.';

const isNotFound = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.code === 'not_found';

/** Words of the state of a pull request, with its code before them unless they begin with it. */
function sayNow({ code, words }: Story['now']): string {
  const [name, said] = [code ?? 'unknown', plain(words ?? '')];
  return said.startsWith(name) ? said : `${name}: ${said}`;
}

const isOver = ({ kind, turn }: Story['now']): boolean => kind === 'exit' && turn === 'none';

export function describe(story: Story): readonly string[] {
  const { number, title, now, place, estimate, forecast } = story;
  return [
    `#${number} ${plain(title ?? '')}`.trimEnd(),
    sayNow(now),
    ...(now.turn === null || isOver(now) ? [] : [`turn: ${TURN_NAMES[now.turn]}`]),
    ...(now.next === null ? [] : [`next: ${plain(now.next)}`]),
    ...(place === null ? [] : [`place: ${place}`]),
    ...(story.settings_file == null ? [] : [`settings: ${plain(story.settings_file)}`]),
    ...(forecast == null ? [] : [forecast]),
    ...(estimate === null ? [] : [`time to land: ${sayEstimate(story)}`]),
  ];
}

export interface Waited {
  /** The story at the last look; null: the service did not answer, or the queue has not looked yet. */
  readonly story: Story | null;
  readonly exit: (typeof EXIT)['ok' | 'fault' | 'left' | 'timedOut'];
}

const mayPass = (error: unknown): error is ApiError => error instanceof ApiError && error.retryable;
/** The service itself refused, in its own words: it is reached, at the right address. */
const hasAnswered = ({ code }: ApiError): boolean => code !== 'unreachable' && code !== 'unexpected';

/**
 * Waits until the pull request has left the queue, or stands in it with a fault that only a change of it ends, such as
 * a conflict. A temporary fault of the service, and the first look at a new schedule, are waited for; any other refusal
 * ends the wait. So does a first call that the service itself does not answer, because its address may be wrong. The wait
 * ends at `end`, also where the service never answers.
 */
export async function waitForExit(
  { api, machine }: Pick<Asked, 'api' | 'machine'>,
  find: () => Promise<Repo>,
  number: number,
  end: number,
  signal?: AbortSignal,
): Promise<Waited> {
  const begin = machine.now();
  const readLeft = (): number => end - machine.now();
  const isTimeOver = (): boolean => readLeft() <= TIMER_MS || signal?.aborted === true;
  let repo: Repo | null = null;
  while (repo === null) {
    repo = await find().catch((error: unknown) => {
      if (mayPass(error) && (isTimeOver() || hasAnswered(error))) return null;
      throw error;
    });
    if (repo !== null) break;
    if (isTimeOver()) return { story: null, exit: EXIT.timedOut };
    await machine.sleep(Math.min(POLL_MS, readLeft()));
  }
  let wasSeen = false;
  let faultSince: number | null = null;
  for (;;) {
    const story = await readStory(api, repo, number).catch((error: unknown) => {
      if (mayPass(error)) return null;
      if (isNotFound(error) && !wasSeen && machine.now() - begin < FIRST_LOOK_MS_MAX) return null;
      throw error;
    });
    wasSeen ||= story !== null;
    if (story !== null && story.now.kind === 'exit') {
      const { code, fault } = story.now;
      return { story, exit: code === 'landed' ? EXIT.ok : fault === true ? EXIT.fault : EXIT.left };
    }
    if (story !== null) {
      faultSince = story.now.fault === true ? (faultSince ?? machine.now()) : null;
      if (faultSince !== null && machine.now() - faultSince >= FAULT_STANDS_MS)
        return { story, exit: EXIT.fault };
    }
    const leftMs = readLeft();
    if (leftMs <= 0 || signal?.aborted === true) return { story, exit: EXIT.timedOut };
    await machine.sleep(Math.min(POLL_MS, leftMs));
  }
}

export async function wait(
  asked: Asked,
  find: () => Promise<Repo>,
  number: number,
  end: number,
): Promise<number> {
  const { story, exit } = await waitForExit(asked, find, number, end);
  emit(asked, story, () =>
    story === null
      ? ['The service did not answer, or the queue has not looked at this pull request yet.']
      : describe(story),
  );
  return exit;
}
