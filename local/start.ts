import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join, resolve } from 'node:path';
import { readCommandLine, readPort, runProgram } from '#core/adapters/system/command-line.ts';
import { findFreePort } from '#core/adapters/system/free-port.ts';
import type { OfferedAccount } from '#core/contracts/internal/dashboard.ts';
import { buildOpenApi } from '#core/contracts/routes/openapi.ts';
import { TIERS, type Tier } from '#core/domain/tenants/billing.ts';
import { serveDashboard } from './dashboard.ts';
import { createFakeForge, defaultSeed, type FakeForge } from './forge/fake-forge.ts';
import { faultBySentinel, judgeBySentinel } from './forge/sentinels.ts';
import {
  ForgeOptionError,
  type RealForge,
  readForgeTokens,
  readRealForge,
  refuseTokenOption,
  TOKEN_USAGE,
} from './forge-account.ts';
import { describeHook, enrollHookExample, type WebhookExample } from './hook-example.ts';
import { type LocalIdentity, startLocalIdentity } from './identity/provider.ts';
import { giveSubscription } from './payments/give-subscription.ts';
import { LOCAL_PAYMENTS, type LocalPayments, startLocalPayments } from './payments/provider.ts';
import { connectRealForge, joinAuthorities } from './real-forge.ts';
import { type LocalService, type LocalServiceOptions, startLocalService } from './service.ts';

/** The addresses and names that a black-box test or a person needs to begin. Written once everything answers. */
export interface Ready {
  readonly base_url: string;
  readonly dashboard_url: string;
  /** The fake forge of this machine. */
  readonly forge_url: string;
  /** A real forge that the first tenant is connected with; null: none was named. */
  readonly real_forge: { readonly url: string; readonly bot_login: string } | null;
  /** The payment provider's stand-in: its pages are there, and events signed with the secret are believed. */
  readonly payments: { readonly url: string; readonly webhook_secret: string };
  readonly admin_key: string;
  readonly tenants: readonly {
    readonly id: string;
    readonly token: string;
    readonly forge_login: string;
    readonly forge_token: string;
  }[];
  readonly admin_token: string;
  readonly webhook_example: WebhookExample;
}

export interface StartOptions extends Pick<LocalServiceOptions, 'bundlesDir' | 'context'> {
  /** 0: any free one. */
  readonly port: number;
  readonly fresh: boolean;
  /** @default `.mergeyard/start` */
  readonly dataDir?: string;
  /** The plan that the seeded tenants have bought at their first start. @default pro: room to try things, and a plan above it */
  readonly plan?: Tier;
  /** A real forge beside the fake one, with the token of its bot: the first tenant is connected with it. */
  readonly realForge?: RealForge & { readonly token: string };
  /** @default one second */
  readonly gateDurationMs?: number;
}

export interface Started {
  readonly ready: Ready;
  readonly service: LocalService;
  readonly identity: LocalIdentity;
  readonly forge: FakeForge;
  readonly payments: LocalPayments;
  stop(): Promise<void>;
}

interface State {
  readonly ports: { readonly http: number; readonly https: number; readonly identity: number };
  readonly forgeTokens: readonly string[];
}

/** Each tenant has a bot and a repository of its own: an identity belongs to one tenant only. */
const TENANTS = [
  { email: 'ada@example.test', login: 'mq-bot', owner: 'acme' },
  { email: 'ben@example.test', login: 'beta-bot', owner: 'beta' },
] as const;
const ADMIN = 'admin@example.test';
const PASSWORD = 'local-password';
/** Accounts in a state that one wants to see once: local/README.md has the list. */
const SENTINELS = [
  { email: 'late@example.test', label: 'a person who pays late' },
  { email: 'expired@example.test', label: 'a person whose session ends at once' },
  { email: 'unverifiable@example.test', label: 'a person whose session cannot be checked' },
] as const;
/** Sessions of a local run outlive the day. */
const SESSION_SECONDS = 30 * 24 * 3600;

export async function startEverything(options: StartOptions): Promise<Started> {
  const dataDir = resolve(options.dataDir ?? '.mergeyard/start');
  if (options.fresh) rmSync(dataDir, { recursive: true, force: true });
  mkdirSync(dataDir, { recursive: true });
  const { realForge } = options;
  const stateFile = join(dataDir, 'start.json');
  const state = await loadState(stateFile);
  const stops: (() => Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    for (const each of stops.splice(0).reverse()) await each();
  };
  try {
    const identity = await startLocalIdentity({
      file: join(dataDir, 'identity.json'),
      port: state.ports.identity,
    });
    stops.push(identity.stop);
    const forge = createFakeForge({
      dataDir: join(dataDir, 'forge'),
      httpPort: state.ports.http,
      httpsPort: state.ports.https,
      knobs: {
        gate: 'judge',
        gateDurationMs: options.gateDurationMs ?? 1_000,
        judge: judgeBySentinel,
        fault: faultBySentinel,
      },
    });
    const address = await forge.start();
    stops.push(() => forge.stop());
    await furnishForge(forge, state);
    const payments = await startLocalPayments({ file: join(dataDir, 'payments.json') });
    stops.push(payments.stop);
    const service = await startLocalService({
      dataDir: join(dataDir, 'service'),
      ...(options.bundlesDir === undefined ? {} : { bundlesDir: options.bundlesDir }),
      port: options.port === 0 ? await findFreePort() : options.port,
      context: {
        identityUrl: identity.url,
        forgeAllowHosts: [address.httpsUrl, ...(realForge === undefined ? [] : [realForge.url])]
          .map((url) => new URL(url).host)
          .join(','),
        forgeCaFile: joinAuthorities(dataDir, [address.caFile, realForge?.caFile ?? null]),
        paymentsApiUrl: payments.url,
        paymentsPrices: LOCAL_PAYMENTS.prices,
        ...options.context,
      },
      secrets: {
        'payments-key': LOCAL_PAYMENTS.key,
        'payments-read-key': LOCAL_PAYMENTS.readKey,
        'payments-webhook-secret': LOCAL_PAYMENTS.signingSecret,
      },
    });
    stops.push(() => service.stop());
    payments.listenAt(`${service.baseUrl}/api/v1/payments/webhook`);
    serveDocument(service);
    const parts = { service, identity, payments, plan: options.plan ?? 'pro' };
    const furnished = await furnishService(parts, state, address.httpsUrl);
    const [first] = furnished.tenants;
    const ready: Ready =
      realForge === undefined || first === undefined
        ? furnished
        : { ...furnished, real_forge: await connectRealForge(service.baseUrl, first.token, realForge) };
    await serveDashboard(service.run.front, {
      outDir: join(dataDir, 'dashboard'),
      identityUrl: identity.url,
      accounts: offerAccounts(ready),
    });
    return { ready, service, identity, forge, payments, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function furnishForge(forge: FakeForge, state: State): Promise<void> {
  for (const [index, { login, owner }] of TENANTS.entries()) {
    forge.addUser(login);
    if (owner !== 'acme' && !existsOnForge(forge, `${owner}/app`)) {
      const seed = defaultSeed(forge.profile);
      await forge.createRepo({ ...seed, owner, collaborators: { ...seed.collaborators, [login]: 'admin' } });
    }
    forge.addToken(login, undefined, state.forgeTokens[index]);
  }
}

function existsOnForge(forge: FakeForge, slug: string): boolean {
  try {
    forge.controlFor(slug);
    return true;
  } catch {
    return false;
  }
}

async function furnishService(
  parts: {
    readonly service: LocalService;
    readonly identity: LocalIdentity;
    readonly payments: LocalPayments;
    readonly plan: Tier;
  },
  state: State,
  forgeUrl: string,
): Promise<Ready> {
  const { service, identity, payments, plan } = parts;
  const tenants: Ready['tenants'][number][] = [];
  for (const [index, { email, login }] of TENANTS.entries()) {
    const { id } = identity.addUser({ email, password: PASSWORD });
    // Room to try things: the free plan has one repository.
    if (plan !== 'free') await giveSubscription(service.store, payments, { tenantId: id, tier: plan });
    const token = identity.signIn(id, SESSION_SECONDS);
    tenants.push({ id, token, forge_login: login, forge_token: state.forgeTokens[index] ?? '' });
  }
  const admin = identity.addUser({ email: ADMIN, password: PASSWORD, isAdmin: true });
  for (const { email } of SENTINELS) identity.addUser({ email, password: PASSWORD });
  const late = identity.addUser({ email: SENTINELS[0].email, password: PASSWORD });
  await giveSubscription(service.store, payments, { tenantId: late.id, tier: 'pro', unpaid: true });
  await enrollHookExample(service, forgeUrl);
  const { baseUrl } = service;
  return {
    base_url: baseUrl,
    dashboard_url: baseUrl,
    forge_url: forgeUrl,
    real_forge: null,
    payments: { url: payments.url, webhook_secret: LOCAL_PAYMENTS.signingSecret },
    admin_key: await service.readSecret('admin-key'),
    tenants,
    admin_token: identity.signIn(admin.id, SESSION_SECONDS),
    webhook_example: describeHook(baseUrl, forgeUrl),
  };
}

/** One click on the sign-in page: this machine's own tenants, with the forge that they would connect first. */
function offerAccounts({ tenants, forge_url }: Ready): readonly OfferedAccount[] {
  const labels = ['Ada', 'Ben'];
  return [
    ...TENANTS.map(({ email }, index) => {
      const { forge_login = '', forge_token = '' } = tenants[index] ?? {};
      const forge = { instance_url: forge_url, bot_login: forge_login, token: forge_token };
      return { label: labels[index] ?? email, email, password: PASSWORD, forge };
    }),
    { label: 'the operator', email: ADMIN, password: PASSWORD },
    ...SENTINELS.map(({ email, label }) => ({ email, label, password: PASSWORD, apart: true })),
  ];
}

/** The API's own description, beside the API. */
function serveDocument(service: LocalService): void {
  const { front } = service.run;
  const document = JSON.stringify(buildOpenApi(service.baseUrl));
  const serve = front.listeners('request').map((listener) => listener as RequestListener);
  front.removeAllListeners('request');
  front.on('request', (request, response) => {
    if (request.method === 'GET' && request.url === '/openapi.json') {
      response.writeHead(200, { 'content-type': 'application/json' }).end(document);
      return;
    }
    for (const each of serve) each(request, response);
  });
}

async function loadState(file: string): Promise<State> {
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as State;
  const state: State = {
    ports: { http: await findFreePort(), https: await findFreePort(), identity: await findFreePort() },
    forgeTokens: TENANTS.map(() => randomUUID().replaceAll('-', '') + randomUUID().slice(0, 8)),
  };
  writeWhole(file, state);
  return state;
}

function writeWhole(file: string, value: unknown): void {
  writeFileSync(`${file}.new`, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

function failOption(name: string, allowed: readonly string[]): never {
  throw new Error(`${name} must be one of: ${allowed.join(', ')}`);
}

const USAGE = `npm start -- [--port N] [--data DIR] [--fresh] [--ready-file FILE] [--plan free|pro|team] [--rate-factor N]
  --forge URL         a real forge beside the fake one: the first tenant is connected with it
  --forge-ca FILE     its certificate authority, if it has its own
with --forge, in the environment:
${TOKEN_USAGE}`;

async function main(): Promise<number> {
  refuseTokenOption(process.argv.slice(2));
  const options = {
    port: { type: 'string', default: '8787' },
    'ready-file': { type: 'string' },
    data: { type: 'string' },
    fresh: { type: 'boolean', default: false },
    'rate-factor': { type: 'string', default: '1' },
    plan: { type: 'string', default: 'pro' },
    forge: { type: 'string' },
    'forge-ca': { type: 'string' },
  } as const;
  const { values } = readCommandLine(options, USAGE);
  const forge = readRealForge(values.forge, values['forge-ca']);
  const realForge =
    forge === null
      ? {}
      : { realForge: { ...forge, token: (await readForgeTokens(process.env, process.stdin)).bot } };
  const started = await startEverything({
    port: readPort('--port', values.port, USAGE),
    fresh: values.fresh,
    context: { rateFactor: values['rate-factor'] },
    ...realForge,
    plan: TIERS.find((tier) => tier === values.plan) ?? failOption('--plan', TIERS),
    ...(values.data === undefined ? {} : { dataDir: values.data }),
  });
  const { ready } = started;
  if (values['ready-file'] !== undefined) writeWhole(resolve(values['ready-file']), ready);
  process.stdout.write(
    [
      `dashboard  ${ready.dashboard_url}`,
      `API        ${ready.base_url}   (description: ${ready.base_url}/openapi.json)`,
      `forge      ${ready.forge_url}`,
      ...(ready.real_forge === null
        ? []
        : [`real forge ${ready.real_forge.url}   connected for Ada as ${ready.real_forge.bot_login}`]),
      `payments   ${ready.payments.url}   (a stand-in: cards 4242 4242 4242 4242, 4000 0000 0000 0002 declined)`,
      ...ready.tenants.map((tenant) => `tenant     ${tenant.id}   bot ${tenant.forge_login}`),
      'Sessions and keys are in the file named by --ready-file. Ctrl-C ends everything.',
      '',
    ].join('\n'),
  );
  let ending = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (ending) return;
      ending = true;
      void started.stop().finally(() => process.exit(0));
    });
  }
  return 0;
}

function explain(error: unknown): string {
  const says = error instanceof Error ? error.message : String(error);
  return error instanceof ForgeOptionError ? `${says}\n${USAGE}` : says;
}

if (process.argv[1]?.endsWith(join('local', 'start.ts'))) {
  runProgram(main, explain);
}
