/**
 * One landing under one lease with two workers, small enough to look at every state there is: either may be frozen,
 * die, act late or come back, in every order. The rules are those of the lease service, of `queue/landing/landing.ts` and of the
 * store; each is a switch here, so that what it is there for can be shown by leaving it out.
 */
export const GUARDS = [
  /** The store refuses writes under an older fence. */
  'fence',
  /** Nothing is sent once the lease could end while the call is under way. */
  'deadline',
  /** A lease is taken over only when whatever its holder sent has arrived. */
  'grace',
  /** The intent is stored before the success is sent. */
  'intent',
  /** A success that no longer holds is taken back. */
  'takeBack',
  /** After a success was taken back and its grace the last word is written once more: a late success may have come in between. */
  'last word',
  /** A merge counts as a landing only on the base it was proven on. */
  'tree',
] as const;
export type Guard = (typeof GUARDS)[number];

interface Record {
  readonly intent: boolean;
  readonly posted: boolean;
  readonly takeBack: 'none' | 'wished' | 'posted';
  readonly ended: 'no' | 'landed' | 'dropped' | 'halted';
}

interface Worker {
  /** 0: holds nothing and does nothing. */
  readonly fence: number;
  readonly at: 'begun' | 'looked' | 'armed' | 'disarmed' | 'last word';
  readonly record: Record;
  readonly saw: Sight | null;
}

interface Sight {
  readonly changed: boolean;
  readonly merged: 'no' | 'proven' | 'unproven';
}

interface Call {
  readonly word: 'success' | 'pending';
  readonly fence: number;
}

export interface State {
  readonly lease: { readonly fence: number; readonly phase: 'free' | 'fresh' | 'late' | 'expired' };
  readonly workers: readonly [Worker, Worker];
  readonly record: Record;
  readonly forge: {
    readonly head: 'staged' | 'other';
    readonly base: 'staged' | 'other';
    readonly scheduled: boolean;
    readonly word: 'none' | 'success' | 'pending';
    readonly merged: 'no' | 'proven' | 'unproven';
  };
  /** Sent, given up by their sender, still to be carried out. */
  readonly calls: readonly Call[];
  /** Newest fence under which something was sent. */
  readonly sent: number;
  /** Fences whose holder never gave the lease back. */
  readonly overtaken: readonly number[];
  /** The acts of people so far; each happens once. */
  readonly done: readonly string[];
  /** A promise that was broken on the way here. */
  readonly broken: string | null;
}

export interface Options {
  readonly without?: Guard;
  /** People may push straight to the base: then a wrong landing is detected, not prevented. */
  readonly basePushes: boolean;
}

/** Leases granted in one life: the first holder, the one that takes over, and one more. */
const FENCES_MAX = 3;
const NOTHING: Record = { intent: false, posted: false, takeBack: 'none', ended: 'no' };
const IDLE: Worker = { fence: 0, at: 'begun', record: NOTHING, saw: null };

export const BEGIN: State = {
  lease: { fence: 0, phase: 'free' },
  workers: [IDLE, IDLE],
  record: NOTHING,
  forge: { head: 'staged', base: 'staged', scheduled: true, word: 'none', merged: 'no' },
  calls: [],
  sent: 0,
  overtaken: [],
  done: [],
  broken: null,
};

export interface Step {
  readonly name: string;
  readonly state: State;
}

/** Everything that may happen next. */
export function stepsFrom(state: State, options: Options): Step[] {
  return [
    ...passTime(state, options),
    ...actOfPeople(state, options),
    ...actOfForge(state),
    ...([0, 1] as const).flatMap((index) => actOfWorker(state, index, options)),
  ];
}

function passTime(state: State, options: Options): Step[] {
  const { lease } = state;
  const to = (phase: State['lease']['phase']): State => ({ ...state, lease: { ...lease, phase } });
  if (lease.phase === 'fresh') return [{ name: 'the deadline passes', state: to('late') }];
  if (lease.phase === 'late') return [{ name: 'the lease expires', state: to('expired') }];
  const underWay = state.calls.some((call) => call.fence === lease.fence);
  if (lease.phase !== 'expired' || (options.without !== 'grace' && underWay)) return [];
  const overtaken = [...state.overtaken, lease.fence];
  return [{ name: 'the lease is free to take', state: { ...to('free'), overtaken } }];
}

function actOfPeople(state: State, options: Options): Step[] {
  const { forge, done } = state;
  const once = (name: string, change: Partial<State['forge']>, after?: string): Step[] =>
    done.includes(name) || (after !== undefined && !done.includes(after))
      ? []
      : [{ name, state: { ...state, forge: { ...forge, ...change }, done: [...done, name].sort() } }];
  if (forge.merged !== 'no') return [];
  return [
    ...once('a push to the head', { head: 'other' }),
    ...once('a push back to the old head', { head: 'staged' }, 'a push to the head'),
    ...once('the schedule is cancelled', { scheduled: false }),
    ...once('it is scheduled again', { scheduled: true }, 'the schedule is cancelled'),
    ...(options.basePushes ? once('a push to the base', { base: 'other' }) : []),
  ];
}

function actOfForge(state: State): Step[] {
  const { forge, calls } = state;
  const steps: Step[] = [];
  const mayMerge = forge.scheduled && forge.head === 'staged' && forge.word === 'success';
  if (mayMerge && forge.merged === 'no') {
    const merged = forge.base === 'staged' ? 'proven' : 'unproven';
    steps.push({ name: 'the forge merges', state: { ...state, forge: { ...forge, merged } } });
  }
  calls.forEach((call, index) => {
    const left = calls.filter((_, other) => other !== index);
    steps.push({ name: `a late ${call.word} arrives`, state: carryOut({ ...state, calls: left }, call) });
  });
  return steps;
}

function carryOut(state: State, call: Call): State {
  const overtaken = call.fence < state.sent && state.overtaken.includes(call.fence);
  const broken = overtaken
    ? 'a call arrives after a call of the holder that took the lease over'
    : state.broken;
  if (state.forge.merged !== 'no') return { ...state, broken };
  return { ...state, forge: { ...state.forge, word: call.word }, broken };
}

function actOfWorker(state: State, index: 0 | 1, options: Options): Step[] {
  const worker = state.workers[index];
  const name = index === 0 ? 'A' : 'B';
  if (worker.fence === 0) return acquire(state, index, name);
  const steps: Step[] = [{ name: `${name} dies`, state: put(state, index, IDLE) }];
  if (worker.at === 'begun') {
    const { forge } = state;
    const changed = forge.head !== 'staged' || !forge.scheduled || forge.base !== 'staged';
    const saw: Sight = { changed, merged: forge.merged };
    steps.push({ name: `${name} looks`, state: put(state, index, { ...worker, at: 'looked', saw }) });
  } else if (worker.at === 'looked') steps.push(...decide(state, index, worker, name, options));
  else steps.push(...send(state, index, worker, name, options));
  return steps;
}

function acquire(state: State, index: 0 | 1, name: string): Step[] {
  const { lease } = state;
  if (lease.phase !== 'free' || lease.fence >= FENCES_MAX) return [];
  const fence = lease.fence + 1;
  const worker: Worker = { fence, at: 'begun', record: state.record, saw: null };
  return [
    {
      name: `${name} takes the lease`,
      state: put({ ...state, lease: { fence, phase: 'fresh' } }, index, worker),
    },
  ];
}

function put(state: State, index: 0 | 1, worker: Worker): State {
  const [first, second] = state.workers;
  return { ...state, workers: index === 0 ? [worker, second] : [first, worker] };
}

/** Gives the lease back, if it is still the own one. */
function end(state: State, index: 0 | 1): State {
  const { fence } = state.workers[index];
  const own = state.lease.fence === fence && state.lease.phase !== 'free';
  const lease = own ? { ...state.lease, phase: 'free' as const } : state.lease;
  return put({ ...state, lease }, index, IDLE);
}

/** The whole record is written, as the engine writes it; a refused writer is at its end. */
function save(
  state: State,
  index: 0 | 1,
  record: Record,
  then: Worker['at'] | 'end',
  options: Options,
): State {
  const worker = state.workers[index];
  const current = state.lease.fence === worker.fence && !state.overtaken.includes(worker.fence);
  if (!current && options.without !== 'fence') return put(state, index, IDLE);
  const wasEnded = state.record.ended !== 'no' && record.ended !== state.record.ended;
  const broken = wasEnded ? 'what was decided is undecided again' : state.broken;
  const stored = { ...state, record, broken };
  return then === 'end' ? end(stored, index) : put(stored, index, { ...worker, record, at: then });
}

function decide(state: State, index: 0 | 1, worker: Worker, name: string, options: Options): Step[] {
  const { record, saw } = worker;
  if (saw === null) return [];
  const step = (what: string, next: State): Step => ({ name: `${name} ${what}`, state: next });
  if (record.ended !== 'no') return [step('is done', end(state, index))];
  if (saw.merged !== 'no') {
    const proven = saw.merged === 'proven' || options.without === 'tree';
    const ended = proven ? 'landed' : 'halted';
    return [step(`finds it ${ended}`, save(state, index, { ...record, ended }, 'end', options))];
  }
  if (record.takeBack === 'posted') {
    // Its grace is longer than any call is late.
    if (state.calls.some((call) => call.word === 'success')) return [step('waits', end(state, index))];
    return [step('concludes', put(state, index, { ...worker, at: 'last word' }))];
  }
  if (record.takeBack === 'wished')
    return [step('takes back', put(state, index, { ...worker, at: 'disarmed' }))];
  if (!record.intent) {
    if (saw.changed)
      return [step('drops it', save(state, index, { ...record, ended: 'dropped' }, 'end', options))];
    const intent = { ...record, intent: true };
    return options.without === 'intent'
      ? [step('arms', put(state, index, { ...worker, record: intent, at: 'armed' }))]
      : [step('stores the intent', save(state, index, intent, 'armed', options))];
  }
  const steps: Step[] = [];
  if (!saw.changed && !record.posted)
    steps.push(step('arms again', put(state, index, { ...worker, at: 'armed' })));
  if (!saw.changed && record.posted) steps.push(step('waits', end(state, index)));
  // Changed, or the merge did not come in time.
  if (saw.changed || record.posted) {
    const next =
      options.without === 'takeBack'
        ? save(state, index, { ...record, ended: 'dropped' }, 'end', options)
        : save(state, index, { ...record, takeBack: 'wished' }, 'disarmed', options);
    steps.push(step('takes it back', next));
  }
  return steps;
}

function send(state: State, index: 0 | 1, worker: Worker, name: string, options: Options): Step[] {
  const { record, fence } = worker;
  if (worker.at === 'last word' && options.without === 'last word') {
    return [
      {
        name: `${name} drops it`,
        state: save(state, index, { ...record, ended: 'dropped' }, 'end', options),
      },
    ];
  }
  const inTime = state.lease.fence === fence && state.lease.phase === 'fresh';
  if (!inTime && options.without !== 'deadline')
    return [{ name: `${name} is too late`, state: end(state, index) }];
  const word = worker.at === 'armed' ? 'success' : 'pending';
  const withoutIntent = word === 'success' && !state.record.intent;
  const broken = withoutIntent ? 'a success without a stored intent' : state.broken;
  const sent: State = { ...state, sent: Math.max(state.sent, fence), broken };
  const call: Call = { word, fence };
  const after: Record =
    worker.at === 'armed'
      ? { ...record, posted: true }
      : worker.at === 'disarmed'
        ? { ...record, takeBack: 'posted' }
        : { ...record, ended: 'dropped' };
  const calls = [...state.calls, call].sort((a, b) => a.fence - b.fence || (a.word < b.word ? -1 : 1));
  return [
    { name: `${name} posts ${word}`, state: save(carryOut(sent, call), index, after, 'end', options) },
    { name: `${name} posts ${word} and hears nothing`, state: end(carryOut(sent, call), index) },
    { name: `${name} posts ${word}, which comes late`, state: end({ ...sent, calls }, index) },
    {
      name: `${name} posts ${word}, which comes late, and dies`,
      state: put({ ...sent, calls }, index, IDLE),
    },
  ];
}

/** The fault of a state; null when there is none. */
export function judge(state: State): string | null {
  if (state.broken !== null) return state.broken;
  const { record, forge, calls } = state;
  if (record.ended === 'landed' && forge.merged !== 'proven') return 'told as landed, and is not';
  if (record.ended === 'dropped' && calls.length === 0 && forge.merged === 'no' && forge.word === 'success')
    return 'a success stands on what was given up';
  return null;
}

export interface Exploration {
  readonly states: number;
  readonly steps: number;
  /** Shortest way to a broken promise; null when there is none. */
  readonly broken: { readonly what: string; readonly path: readonly string[] } | null;
  /** States in which nothing is decided and no way leads to a decision. */
  readonly stuck: number;
}

/** Breadth first through every state that can be reached. */
export function explore(options: Options): Exploration {
  const ids = new Map<string, number>();
  const states: State[] = [];
  /** How each state was reached first. */
  const origins: { readonly from: number; readonly name: string }[] = [];
  const sources: number[][] = [];
  const decided: number[] = [];
  let steps = 0;
  const reach = (state: State, from: number, name: string): void => {
    const key = encode(state);
    const known = ids.get(key);
    if (known !== undefined) {
      sources[known]?.push(from);
      return;
    }
    ids.set(key, states.length);
    states.push(state);
    origins.push({ from, name });
    sources.push(from < 0 ? [] : [from]);
  };
  reach(BEGIN, -1, '');
  for (let at = 0; at < states.length; at += 1) {
    const state = states[at] ?? BEGIN;
    const what = judge(state);
    if (what !== null)
      return { states: states.length, steps, broken: { what, path: pathTo(origins, at) }, stuck: 0 };
    if (state.record.ended !== 'no' || state.lease.fence >= FENCES_MAX) decided.push(at);
    for (const { name, state: after } of stepsFrom(state, options)) {
      steps += 1;
      reach(after, at, name);
    }
  }
  return {
    states: states.length,
    steps,
    broken: null,
    stuck: states.length - countLeadingTo(decided, sources),
  };
}

/** One text per state. The two workers are alike, so which of them is which makes no difference. */
function encode({ lease, workers, record, forge, calls, sent, overtaken, done, broken }: State): string {
  const [first, second] = workers.map(
    ({ fence, at, record: own, saw }) =>
      `${fence}${at}${encodeRecord(own)}${saw === null ? '' : `${saw.changed}${saw.merged}`}`,
  );
  const pair = (first ?? '') < (second ?? '') ? `${first}|${second}` : `${second}|${first}`;
  const way = calls.map((call) => `${call.word}${call.fence}`).join();
  const { head, base, scheduled, word, merged } = forge;
  return `${lease.fence}${lease.phase}|${pair}|${encodeRecord(record)}|${head}${base}${scheduled}${word}${merged}|${way}|${sent}|${overtaken}|${done}|${broken}`;
}

function encodeRecord({ intent, posted, takeBack, ended }: Record): string {
  return `${intent ? 1 : 0}${posted ? 1 : 0}${takeBack}${ended}`;
}

function pathTo(origins: readonly { readonly from: number; readonly name: string }[], id: number): string[] {
  const path: string[] = [];
  for (let at = origins[id]; at !== undefined && at.from >= 0; at = origins[at.from]) path.unshift(at.name);
  return path;
}

function countLeadingTo(goals: readonly number[], sources: readonly (readonly number[])[]): number {
  const reaches = new Set(goals);
  const open = [...goals];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    for (const source of sources[id] ?? []) {
      if (reaches.has(source)) continue;
      reaches.add(source);
      open.push(source);
    }
  }
  return reaches.size;
}
