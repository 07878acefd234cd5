import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { findFreePort } from '#core/adapters/system/free-port.ts';
import type { GateKind } from '#core/domain/forge/status-gate.ts';
import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { DEFAULT_SETTINGS } from '#core/domain/repos/repo-settings.ts';
import { UNPROVISIONED } from '#core/domain/set-up/provisioning.ts';
import { Secret } from '#core/secret.ts';
import { CI_LOGIN, contextsOf } from '../forge/ci/other-ci.ts';
import { BOT, createFakeForge, type FakeForge } from '../forge/fake-forge.ts';
import type { OtherCi } from '../forge/model.ts';
import type { ForgeTokens } from '../forge-account.ts';
import { type Installation, type InstallationOptions, startOneBox, startTemplate } from './installation.ts';
import { type DemoOptions, UsageError } from './options.ts';
import { Person } from './people.ts';
import { baseFiles, gateFile, PULL_REQUESTS } from './project.ts';
import { createRealRepo, knownRepo, type RealRepo } from './real-forge.ts';
import { type StatusCi, startStatusCi, statusGateFiles, type WoodpeckerAccess } from './status-ci.ts';

/** The state that a story needs to go on after everything was killed. */
export interface StoryState {
  readonly ports: { readonly http: number; readonly https: number; readonly api: number };
  /** Address of the real forge that the story is played on; null = the fake. */
  readonly forgeUrl: string | null;
  readonly slug: string;
  /** Of the fake forge; '' on a real one, whose tokens are asked for at every start and never kept. */
  readonly botToken: string;
  readonly personToken: string;
  readonly repoId: string;
  readonly startTip: string;
  /** Number of each pull request, by branch. */
  readonly numbers: Readonly<Record<string, number>>;
  readonly twistsDone: readonly string[];
  readonly finished: boolean;
}

export interface Stage {
  readonly service: Installation;
  readonly fake: FakeForge | null;
  readonly forgeUrl: string;
  /** Where people look: pages, and `git clone`. */
  readonly pagesUrl: string;
  readonly person: Person;
  readonly state: StoryState;
  readonly resumed: boolean;
  save(changes: Partial<StoryState>): StoryState;
  /** Judges a real forge's batches by statuses; null: the forge's own runner does, or the fake. */
  readonly ci: StatusCi | null;
  /** Takes from a real forge what was made there. Null on the fake, which is the demo's own. */
  readonly cleanUp: (() => Promise<void>) | null;
  stop(): Promise<void>;
}

export interface StageOptions extends DemoOptions {
  /** Of the real forge, where one is named. */
  readonly tokens?: ForgeTokens | null;
  /** From the environment; asked for with `--woodpecker` only. */
  readonly woodpeckerAccess?: WoodpeckerAccess | null;
  /** @default by `onebox` */
  readonly start?: (options: InstallationOptions) => Promise<Installation>;
}

const SLUG = 'corner/shop';
const PERSON = 'dev';
const HOOK_EVENTS = [
  'push',
  'pull_request',
  'pull_request_review',
  'action_run_success',
  'action_run_failure',
];

/** Boots forge and service, and lays out the project and its twelve pull requests unless an interrupted story has them. */
export async function setStage(options: StageOptions, say: (line: string) => void): Promise<Stage> {
  const dataDir = resolve(options.dataDir);
  const stateFile = join(dataDir, 'story.json');
  const left = readState(stateFile);
  const unfinished = left !== null && !left.finished ? left : null;
  if (options.fresh && unfinished !== null) await forget(options, unfinished, say);
  const earlier = options.fresh ? null : unfinished;
  const resumed = earlier !== null;
  if (resumed && earlier.forgeUrl !== (options.forge?.url ?? null))
    throw new UsageError(
      `${stateFile} holds a story that was interrupted on ${earlier.forgeUrl ?? 'the fake forge'}: go on with it there, or begin again with --fresh`,
    );
  if (!resumed) rmSync(dataDir, { recursive: true, force: true });
  mkdirSync(dataDir, { recursive: true });
  const ports = resumed
    ? earlier.ports
    : { http: await findFreePort(), https: await findFreePort(), api: await findFreePort() };
  const forge = options.forge === null ? await startFake(dataDir, ports, options) : null;
  const forgeUrl = forge?.httpsUrl ?? options.forge?.url ?? '';
  const start = options.start ?? (options.onebox ? startOneBox : startTemplate);
  const tokensOfFake =
    forge === null || resumed
      ? { botToken: '', personToken: '' }
      : { botToken: forge.fake.addToken(BOT), personToken: forge.fake.addToken(PERSON) };
  // The service takes as long to start as people take to open what it is for.
  const [service, opened] = await Promise.all([
    start({
      dataDir: join(dataDir, 'service'),
      port: ports.api,
      forgeUrl,
      caFile: forge?.caFile ?? options.forge?.caFile ?? null,
    }),
    forge === null || resumed
      ? null
      : layOut(new Person({ url: forge.httpUrl, token: tokensOfFake.personToken }, SLUG), say),
  ]);
  let state: StoryState | null = resumed ? earlier : null;
  const save = (changes: Partial<StoryState>): StoryState => {
    state = { ...(state as StoryState), ...changes };
    writeFileSync(`${stateFile}.new`, JSON.stringify(state), { mode: 0o600 });
    renameSync(`${stateFile}.new`, stateFile);
    return state;
  };
  let ci: StatusCi | null = null;
  const stop = async (): Promise<void> => {
    await service.stop();
    await forge?.fake.stop();
    await ci?.stop();
  };
  const { forge: real, tokens = null, woodpeckerAccess: woodpecker = null } = options;
  const byStatuses = real !== null && options.gate === 'statuses';
  let realRepo: RealRepo | null =
    real === null || tokens === null || !resumed ? null : knownRepo(real, tokens, earlier.slug);
  const cleanUp = async (): Promise<void> => {
    if (realRepo === null) return;
    await realRepo.remove();
    say(`${realRepo.slug} is deleted from the forge again`);
    realRepo = null;
  };
  const startCi = async (): Promise<void> => {
    if (!byStatuses || realRepo === null || tokens === null) return;
    const { slug, author: person } = realRepo;
    ci = await startStatusCi({
      forge: real,
      slug,
      person,
      token: tokens.author,
      dataDir: join(dataDir, 'ci'),
      ci: options.ci,
      woodpecker,
    });
  };
  try {
    if (state === null) {
      const gateFiles = byStatuses ? statusGateFiles(woodpecker) : null;
      if (real !== null && tokens !== null) realRepo = await createRealRepo(real, tokens, gateFiles);
      const kept = tokensOfFake;
      await startCi();
      const slug = realRepo?.slug ?? SLUG;
      const at = (token: string) => new Person({ url: forge?.httpUrl ?? forgeUrl, token }, slug);
      const repoId = randomUUID();
      const { startTip, numbers } = opened ?? (await layOut(realRepo?.author ?? at(kept.personToken), say));
      await enroll({
        service,
        forgeUrl,
        slug,
        repoId,
        fanout: options.fanout,
        gate: options.gate,
        ci,
        standIn: options.ci,
        botToken: tokens?.bot ?? kept.botToken,
        person: realRepo?.bot ?? at(kept.botToken),
      });
      save({
        ports,
        forgeUrl: real?.url ?? null,
        slug,
        ...kept,
        repoId,
        startTip,
        numbers,
        twistsDone: [],
        finished: false,
      });
    } else await startCi();
    const known = state as unknown as StoryState;
    return {
      service,
      fake: forge?.fake ?? null,
      forgeUrl,
      pagesUrl: forge?.httpUrl ?? forgeUrl,
      person:
        realRepo?.author ??
        new Person({ url: forge?.httpUrl ?? forgeUrl, token: known.personToken }, known.slug),
      get state() {
        return state as StoryState;
      },
      resumed,
      save,
      ci,
      cleanUp: real === null ? null : cleanUp,
      stop,
    };
  } catch (error) {
    // Nothing is kept that a later start could go on with.
    if (state === null) await cleanUp().catch(() => undefined);
    await stop();
    throw error;
  }
}

/** `--fresh` on a real forge: what the interrupted story has made there goes. */
async function forget(options: StageOptions, left: StoryState, say: (line: string) => void): Promise<void> {
  const { forge, tokens = null } = options;
  if (left.forgeUrl === null) return;
  if (forge === null || tokens === null || forge.url !== left.forgeUrl) {
    say(`left behind on ${left.forgeUrl}: ${left.slug}; delete it there`);
    return;
  }
  try {
    await knownRepo(forge, tokens, left.slug).remove();
    say(`${left.slug}, left by a story that was interrupted, is deleted from the forge`);
  } catch {
    say(`left behind on ${left.forgeUrl}: ${left.slug}, which could not be deleted`);
  }
}

async function startFake(dataDir: string, ports: StoryState['ports'], { gate, ci }: DemoOptions) {
  const [owner = '', name = ''] = SLUG.split('/');
  const fake = createFakeForge({
    dataDir: join(dataDir, 'forge'),
    httpPort: ports.http,
    httpsPort: ports.https,
    knobs: { gate: 'run', ci: gate === 'statuses' ? ci : 'actions', checkDelayMs: 50, runnerSlots: 2 },
    seed: {
      owner,
      name,
      files: baseFiles(gateFile('.forgejo/workflows')),
      collaborators: { [PERSON]: 'write', [BOT]: 'admin' },
      requiredContexts: [DEFAULT_SERVICE_NAME],
    },
  });
  fake.addUser(CI_LOGIN);
  const address = await fake.start();
  return { fake, ...address };
}

async function layOut(
  person: Person,
  say: (line: string) => void,
): Promise<Pick<StoryState, 'startTip' | 'numbers'>> {
  const startTip = await person.baseTip();
  const numbers: Record<string, number> = {};
  for (const planned of PULL_REQUESTS) {
    await person.commitFiles(planned.branch, planned.files, true);
    numbers[planned.branch] = await person.openPullRequest(planned.branch, planned.title);
  }
  for (const planned of PULL_REQUESTS) await person.schedule(numbers[planned.branch] ?? 0);
  say(`${PULL_REQUESTS.length} pull requests are open, each set to "Auto merge when all checks succeed"`);
  return { startTip, numbers };
}

/** The steps of the API at enrollment: connection with a sealed token, repo, webhook. */
async function enroll(options: {
  readonly service: Installation;
  readonly forgeUrl: string;
  readonly slug: string;
  readonly repoId: string;
  readonly botToken: string;
  readonly fanout: number;
  readonly gate: GateKind;
  readonly ci: StatusCi | null;
  /** Of the fake forge, where no CI is given. */
  readonly standIn: OtherCi;
  readonly person: Person;
}): Promise<void> {
  const { store, vault, baseUrl } = options.service;
  const tenantId = randomUUID();
  const connectionId = randomUUID();
  const now = Date.now();
  const secret = randomBytes(32).toString('hex');
  const hookId = randomUUID();
  await store.createTenant(tenantId, now);
  const login = await options.person.login();
  await store.createConnection({
    id: connectionId,
    tenantId,
    instanceUrl: options.forgeUrl,
    botUsername: login,
    credential: await vault.seal(
      { tenantId, connectionId, instanceUrl: options.forgeUrl },
      new Secret(options.botToken),
    ),
    verifiedAt: now,
    createdAt: now,
    updatedAt: now,
    deleting: false,
  });
  const repo: ManagedRepo = {
    id: options.repoId,
    tenantId,
    connectionId,
    instanceUrl: options.forgeUrl,
    slug: options.slug,
    baseBranch: 'main',
    statusContext: DEFAULT_SERVICE_NAME,
    mergeStyle: 'squash',
    automerge: false,
    pause: null,
    ...DEFAULT_SETTINGS,
    wakeupMode: 'webhook',
    bisectFanout: options.fanout,
    enabledAt: now,
    ...chooseGate(options),
    webhookSecret: new Secret(secret),
    hookId,
    ...UNPROVISIONED,
    notification: null,
    wakeSeq: 0,
    dueAt: now,
    createdAt: now,
    updatedAt: now,
    version: 1,
    tombstone: false,
  };
  if ((await store.createRepo(repo, null)) !== 'created')
    throw new Error('the repository could not be enrolled');
  await options.person.addHook(`${baseUrl}/api/v1/webhooks/forge?r=${hookId}`, secret, HOOK_EVENTS);
}

/** Where no CI is given, the fake forge has its own. */
function chooseGate({
  gate,
  ci,
  standIn,
  slug,
}: Pick<Parameters<typeof enroll>[0], 'gate' | 'ci' | 'standIn' | 'slug'>) {
  if (gate === 'workflow') return { gate, gateContexts: [], gateAuthors: [] };
  return {
    gate,
    gateContexts: ci?.contexts ?? contextsOf(standIn, slug, ['gate']),
    gateAuthors: [ci?.author ?? CI_LOGIN],
  };
}

function readState(file: string): StoryState | null {
  if (!existsSync(file)) return null;
  return JSON.parse(readFileSync(file, 'utf8')) as StoryState;
}
