import type { Json } from '../convert/entities.ts';
import { convertRepo, convertUser } from '../convert/entities.ts';
import type { HookRecord } from '../model.ts';
import { sendWebhooks } from '../world/webhooks.ts';
import { gitOf, slugOf, takeId, timestamp, type World } from '../world.ts';
import {
  type Call,
  callerOf,
  created,
  NO_CONTENT,
  ok,
  paged,
  REPO,
  Refusal,
  type Route,
  route,
  textField,
} from './router.ts';

/** The secret never comes back. */
function convertHook(world: World, hook: HookRecord): Json {
  return {
    id: hook.id,
    type: hook.type,
    branch_filter: hook.branchFilter,
    config: { url: hook.url, content_type: hook.contentType },
    ...(world.profile.kind === 'forgejo'
      ? { url: hook.url, content_type: hook.contentType, metadata: null }
      : {}),
    events: hook.events,
    authorization_header: '',
    active: hook.active,
    updated_at: timestamp(hook.updatedAt),
    created_at: timestamp(hook.createdAt),
  };
}

function configOf(call: Call): Readonly<Record<string, string>> {
  const config = call.body.config;
  if (config === null || typeof config !== 'object') return {};
  return Object.fromEntries(
    Object.entries(config).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

/** Unknown names are dropped, none at all means push. */
function eventsOf(call: Call): string[] {
  const events = call.body.events;
  const known = Array.isArray(events)
    ? events.filter((name): name is string => call.world.profile.hookEvents.includes(name))
    : [];
  return known.length === 0 ? ['push'] : known;
}

function isHttpUrl(url: string | undefined): url is string {
  try {
    return url !== undefined && ['http:', 'https:'].includes(new URL(url).protocol);
  } catch {
    return false;
  }
}

function addHook(call: Call) {
  const { body, repo, world } = call;
  const type = textField(call, 'type');
  const allowed = world.profile.kind === 'forgejo' ? ['forgejo', 'gitea', 'gogs'] : ['gitea', 'gogs'];
  const { url, content_type: contentType, secret } = configOf(call);
  if (!allowed.includes(type)) throw new Refusal(422, `Invalid hook type: ${type}`);
  if (url === undefined || (world.profile.checksHookUrls && !isHttpUrl(url)))
    throw new Refusal(422, 'Missing config option: url');
  if (contentType !== 'json' && contentType !== 'form')
    throw new Refusal(422, 'Missing config option: content_type');
  const now = world.timers.now();
  const hook: HookRecord = {
    id: takeId(world),
    type,
    url,
    contentType,
    secret: secret ?? '',
    events: eventsOf(call),
    active: body.active === true,
    branchFilter: textField(call, 'branch_filter'),
    createdAt: now,
    updatedAt: now,
    deliveries: [],
  };
  repo.hooks.push(hook);
  return created(convertHook(world, hook));
}

function hookOf(call: Call): HookRecord {
  const hook = call.repo.hooks.find((each) => each.id === Number(call.params.id));
  if (hook === undefined) throw new Refusal(404, "The target couldn't be found.");
  return hook;
}

/** Events that an edit leaves as they are, whatever it names. */
const KEPT_EVENT = /^(package$|action_run_)/;

/** Leaving `events` or `branch_filter` out resets them; a new secret is ignored. */
function editHook(call: Call) {
  const hook = hookOf(call);
  const { url, content_type: contentType } = configOf(call);
  if (url !== undefined) {
    if (!isHttpUrl(url)) throw new Refusal(422, 'Invalid url');
    hook.url = url;
  }
  if (contentType !== undefined) hook.contentType = contentType;
  const isKept = (event: string) => call.world.profile.kind === 'forgejo' && KEPT_EVENT.test(event);
  hook.events = [...eventsOf(call).filter((event) => !isKept(event)), ...hook.events.filter(isKept)];
  hook.branchFilter = textField(call, 'branch_filter');
  if (typeof call.body.active === 'boolean') hook.active = call.body.active;
  hook.updatedAt = call.world.timers.now();
  call.world.store.changed();
  return ok(convertHook(call.world, hook));
}

function deleteHook(call: Call) {
  const hook = hookOf(call);
  call.repo.hooks = call.repo.hooks.filter((other) => other !== hook);
  call.world.store.changed();
  return NO_CONTENT;
}

function testHook(call: Call) {
  const { repo, world } = call;
  const hook = hookOf(call);
  const sha = gitOf(world, repo).tip(repo.defaultBranch);
  if (sha === null) throw new Refusal(404, "The target couldn't be found.");
  const sender = convertUser(world, callerOf(call));
  sendWebhooks(
    world,
    { ...repo, hooks: [hook] },
    {
      event: 'push',
      type: 'push',
      selectedBy: hook.events,
      branch: null,
      payload: {
        ref: `refs/heads/${repo.defaultBranch}`,
        before: sha,
        after: sha,
        commits: [],
        head_commit: { id: sha },
        pusher: sender,
        repository: convertRepo(world, repo, null),
        sender,
      },
    },
  );
  return NO_CONTENT;
}

const ADMIN = { access: 'admin', whenArchived: true } as const;

export const HOOK_ROUTES: readonly Route[] = [
  route(
    'GET',
    `${REPO}/hooks`,
    (call) => {
      const { page, headers } = paged(call, call.repo.hooks, `/api/v1/repos/${slugOf(call.repo)}/hooks`);
      return ok(
        page.map((hook) => convertHook(call.world, hook)),
        headers,
      );
    },
    ADMIN,
  ),
  route('POST', `${REPO}/hooks`, addHook, ADMIN),
  route('GET', `${REPO}/hooks/:id`, (call) => ok(convertHook(call.world, hookOf(call))), ADMIN),
  route('PATCH', `${REPO}/hooks/:id`, editHook, ADMIN),
  route('DELETE', `${REPO}/hooks/:id`, deleteHook, ADMIN),
  route('POST', `${REPO}/hooks/:id/tests`, testHook, ADMIN),
];
