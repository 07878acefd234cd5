import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { readCommandLine, runProgram } from '../../core/adapters/system/command-line.ts';
import { defaultSeed } from '../forge/fake-forge.ts';
import { type Started, startEverything } from '../start.ts';
import { CARDS } from './world.ts';

/** Plans from end to end on this machine: a story that says what it expects, and fails when it is not so. */
interface Summary {
  readonly tier: string;
  readonly entitled_tier: string;
  readonly status: string;
  readonly payment_action_required: boolean;
  readonly limits: {
    readonly ceiling: { readonly connections: number | null; readonly repos: number | null };
  };
}

interface RepoView {
  readonly id: string;
  readonly name: string;
  readonly hold_reason: string | null;
  readonly reconcile: { readonly ran_at: string | null };
}

interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the story looks at single fields of free-form JSON
  readonly json: any;
}

const USAGE = `npm run demo:billing

Plays plans and payments from end to end on this machine, beside a stand-in of the payment provider: no account is needed.`;
const SETTLES_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 200;

class Deviation extends Error {}

class Story {
  readonly #started: Started;
  #step = 0;

  constructor(started: Started) {
    this.#started = started;
  }

  get world(): Started {
    return this.#started;
  }

  title(text: string): void {
    process.stdout.write(`\n${text}\n`);
  }

  check(text: string, seen: unknown, expected: unknown): void {
    this.#step += 1;
    const isSo = JSON.stringify(seen) === JSON.stringify(expected);
    process.stdout.write(`  ${isSo ? 'ok ' : 'NOT'} ${text}\n`);
    if (!isSo) {
      throw new Deviation(`${text}: expected ${JSON.stringify(expected)}, saw ${JSON.stringify(seen)}`);
    }
  }

  /** Waits for what comes by webhook or worker. */
  async settles(text: string, look: () => Promise<unknown>, expected: unknown): Promise<void> {
    const end = performance.now() + SETTLES_WITHIN_MS;
    let seen = await look();
    while (JSON.stringify(seen) !== JSON.stringify(expected) && performance.now() < end) {
      await wait(LOOK_EVERY_MS);
      seen = await look();
    }
    this.check(text, seen, expected);
  }

  get steps(): number {
    return this.#step;
  }
}

class Tenant {
  readonly #story: Story;
  readonly #index: number;

  constructor(story: Story, index: number) {
    this.#story = story;
    this.#index = index;
  }

  async call(method: string, path: string, body?: unknown): Promise<Answer> {
    const { ready } = this.#story.world;
    const response = await fetch(`${ready.base_url}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${ready.tenants[this.#index]?.token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, json: text === '' ? null : JSON.parse(text) };
  }

  async summary(): Promise<Summary> {
    return (await this.call('GET', '/billing/me')).json;
  }

  async repos(): Promise<readonly RepoView[]> {
    return (await this.call('GET', '/user/repos')).json;
  }

  /** Names of what is held, in order. */
  async held(): Promise<readonly string[]> {
    return (await this.repos()).flatMap((repo) => (repo.hold_reason === null ? [] : [repo.name])).sort();
  }

  async connect(): Promise<string> {
    const { ready } = this.#story.world;
    const own = ready.tenants[this.#index];
    const body = { instance_url: ready.forge_url, bot_login: own?.forge_login, token: own?.forge_token };
    return (await this.call('POST', '/connections', body)).json.id;
  }

  enroll(connectionId: string, slug: string): Promise<Answer> {
    return this.call('POST', '/user/repos', { connection_id: connectionId, repo_slug: slug });
  }

  /** As the browser does: the page that the service names, the card, the button. */
  async pay(tier: string, card: string): Promise<number> {
    const { json } = await this.call('POST', '/billing/checkout', { tier });
    return press(json.checkout_url, { act: 'pay', card });
  }

  async portal(fields: Readonly<Record<string, string>>): Promise<void> {
    const { json } = await this.call('POST', '/billing/portal');
    await press(json.portal_url, fields);
  }

  /** The living subscription of this tenant at the provider. */
  subscription(): string {
    const { world } = this.#story.world.payments;
    const tenantId = this.#story.world.ready.tenants[this.#index]?.id;
    const found = world.listSubscriptions(null, null).find((each) => each.metadata.tenant_id === tenantId);
    return found?.id ?? '';
  }
}

async function press(url: string, fields: Readonly<Record<string, string>>): Promise<number> {
  const response = await fetch(url, {
    method: 'POST',
    body: new URLSearchParams(fields),
    redirect: 'manual',
  });
  return response.status;
}

async function tell(story: Story): Promise<void> {
  const ada = new Tenant(story, 0);
  const ben = new Tenant(story, 1);
  const tierOf = (tenant: Tenant) => async () => (await tenant.summary()).tier;

  story.title('Free');
  const begin = await ada.summary();
  story.check('Ada has bought nothing, and nothing is wrong with that', begin.status, 'active');
  story.check('one connection and one repository', begin.limits.ceiling, { connections: 1, repos: 1 });
  const connectionId = await ada.connect();
  const first = await ada.enroll(connectionId, 'acme/app');
  story.check('she enrolls acme/app', first.status, 201);
  const second = await ada.enroll(connectionId, 'acme/second');
  story.check(
    'a second repository is refused with 402, and the way to pay is named',
    [second.status, second.json.error.code, second.json.error.portal],
    [402, 'repo_limit_exceeded', '/api/v1/billing/portal'],
  );
  const none = await ada.call('POST', '/billing/change-plan', { tier: 'team' });
  story.check(
    'there is no plan to change yet',
    [none.status, none.json.error.checkout],
    [409, '/api/v1/billing/checkout'],
  );

  story.title('Free to pro, at the provider’s checkout');
  story.check('a card that is declined buys nothing', await ada.pay('pro', CARDS.declined), 402);
  story.check('Ada is still on free', (await ada.summary()).tier, 'free');
  story.check('a card that works is taken', await ada.pay('pro', CARDS.good), 303);
  await story.settles('the signed event arrives: Ada is on pro', tierOf(ada), 'pro');
  const pro = await ada.summary();
  story.check('ten connections, fifty repositories', pro.limits.ceiling, { connections: 10, repos: 50 });
  story.check(
    'the second repository is enrolled now',
    (await ada.enroll(connectionId, 'acme/second')).status,
    201,
  );
  const again = await ada.call('POST', '/billing/checkout', { tier: 'team' });
  story.check(
    'a tenant with a plan changes it, and does not buy a second',
    again.json.error.code,
    'subscription_exists',
  );

  story.title('Pro to team');
  const team = await ada.call('POST', '/billing/change-plan', { tier: 'team' });
  story.check('the plan is changed at once', [team.status, team.json], [200, { tier: 'team' }]);
  story.check('no ceiling any more', (await ada.summary()).limits.ceiling, {
    connections: null,
    repos: null,
  });

  story.title('An invoice that is not paid');
  await tellUnpaid(story, ada);

  story.title('Back to free');
  await ada.portal({ act: 'cancel', subscription: ada.subscription() });
  await story.settles('Ada cancels in the portal: she is on free', tierOf(ada), 'free');
  const end = await ada.summary();
  story.check('no payment is asked for', [end.status, end.payment_action_required], ['canceled', false]);
  story.check('the newer repository is held, the oldest runs', await ada.held(), ['acme/second']);
  const newer = (await ada.repos()).find((repo) => repo.name === 'acme/second');
  await ada.call('DELETE', `/user/repos/${newer?.id}`);
  await story.settles('she removes it: nothing is held', () => ada.held(), []);

  story.title('Another tenant');
  story.check('Ben saw nothing of all this', (await ben.summary()).tier, 'free');
  story.check('he pays for pro', await ben.pay('pro', CARDS.failsLater), 303);
  await story.settles('and is on it', tierOf(ben), 'pro');
  const declined = await ben.call('POST', '/billing/change-plan', { tier: 'team' });
  story.check(
    'his card fails later: the change is refused with 502',
    declined.json.error.code,
    'payments_error',
  );
  story.check('and he stays where he was', (await ben.summary()).tier, 'pro');
}

async function tellUnpaid(story: Story, ada: Tenant): Promise<void> {
  const { service } = story.world;
  const ranAt = async (name: string): Promise<string | null> =>
    (await ada.repos()).find((repo) => repo.name === name)?.reconcile.ran_at ?? null;
  await service.fireTick();
  await story.settles('the queue looks after both repositories', async () => {
    const times = [await ranAt('acme/app'), await ranAt('acme/second')];
    return times.map((time) => time !== null);
  }, [true, true]);

  await ada.portal({ act: 'card', card: CARDS.failsLater });
  await ada.portal({ act: 'renew', subscription: ada.subscription() });
  await story.settles('the charge fails: team is bought, free is granted', async () => {
    const { tier, entitled_tier, status, payment_action_required } = await ada.summary();
    return [tier, entitled_tier, status, payment_action_required];
  }, ['team', 'free', 'past_due', true]);
  const repos = await ada.repos();
  story.check(
    'the newer repository is held for payment, the oldest is not',
    repos.map((repo) => [repo.name, repo.hold_reason]).sort(),
    [
      ['acme/app', null],
      ['acme/second', 'payment_required'],
    ],
  );
  const held = repos.find((repo) => repo.name === 'acme/second');
  const refused = await ada.call('POST', `/user/repos/${held?.id}/reconcile`);
  story.check(
    'a manual reconcile of it is 402',
    [refused.status, refused.json.error.code],
    [402, 'payment_required'],
  );

  const before = { app: await ranAt('acme/app'), second: await ranAt('acme/second') };
  // A repository that was looked at just now is due again after ten seconds.
  await story.settles(
    'the next tick works on the oldest',
    async () => {
      await service.fireTick();
      await wait(1_000);
      return (await ranAt('acme/app')) !== before.app;
    },
    true,
  );
  story.check('and leaves the held one alone', await ranAt('acme/second'), before.second);

  await ada.portal({ act: 'card', card: CARDS.good });
  await ada.portal({ act: 'pay' });
  await story.settles('she pays with a new card: team is granted again', async () => {
    const { entitled_tier, status } = await ada.summary();
    return [entitled_tier, status];
  }, ['team', 'active']);
  story.check('nothing is held', await ada.held(), []);
  await story.settles(
    'the next tick works on both',
    async () => {
      await service.fireTick();
      await wait(1_000);
      return (await ranAt('acme/second')) !== before.second;
    },
    true,
  );
}

/** Throws with the deviation. Returns how many things were checked. */
async function demonstrateBilling(): Promise<number> {
  const dataDir = mkdtempSync(join(tmpdir(), 'mergeyard-billing-'));
  const started = await startEverything({
    port: 0,
    fresh: true,
    dataDir,
    plan: 'free',
    context: { rateFactor: '100' },
  });
  try {
    const seed = defaultSeed(started.forge.profile);
    await started.forge.createRepo({
      ...seed,
      name: 'second',
      collaborators: { ...seed.collaborators, 'mq-bot': 'admin' },
    });
    const story = new Story(started);
    process.stdout.write(`Mergeyard at ${started.ready.base_url}, payments at ${started.payments.url}\n`);
    await tell(story);
    return story.steps;
  } finally {
    await started.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

if (process.argv[1]?.endsWith(join('payments', 'demo.ts'))) {
  runProgram(
    async () => {
      readCommandLine({}, USAGE);
      const steps = await demonstrateBilling();
      console.log(`\n${steps} of ${steps} as expected`);
      return 0;
    },
    (error) => `\n${error instanceof Error ? error.message : String(error)}`,
  );
}
