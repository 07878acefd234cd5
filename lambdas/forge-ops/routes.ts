import { AppError } from '#core/contracts/errors.ts';
import { toTargets } from '#core/contracts/notices/notification.ts';
import { readForgeToken } from '#core/contracts/pulls/enqueue.ts';
import { toEnrolledRepo, toManagedRepoView, toProvisioning } from '#core/contracts/repos/managed-repo.ts';
import { toWantedPause } from '#core/contracts/repos/pause.ts';
import { toSettings } from '#core/contracts/repos/repo-settings.ts';
import { toForgeRepoView } from '#core/contracts/tenants/connection.ts';
import { describeRefusalCause } from '#core/domain/forge/refusal-cause.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { describeReasons } from '#core/domain/set-up/provisioning.ts';
import type { ApiHandlers } from '#core/http/api-call.ts';
import { accessDenied, failedAs } from '#core/services/connections/denied.ts';
import { type DiscoverDeps, discoverRepos } from '#core/services/connections/discover.ts';
import {
  type NoticeWebhookDeps,
  removeNoticeWebhook,
  setNoticeWebhook,
} from '#core/services/notices/notice-webhook.ts';
import { dequeuePull, type EnqueueDeps, enqueuePull } from '#core/services/pulls/enqueue-pull.ts';
import { type GateLogDeps, readGateLog } from '#core/services/pulls/read-gate-log.ts';
import { type EnrollDeps, enrollRepo } from '#core/services/repos/enroll-repo.ts';
import { loadOwnRepo } from '#core/services/repos/owned.ts';
import { pauseRepo } from '#core/services/repos/pause-repo.ts';
import { type RepoFactsStore, readFactsOf } from '#core/services/repos/repo-facts.ts';
import { type UpdateDeps, updateRepo } from '#core/services/repos/update-repo.ts';
import { type Failed, openSetupPull } from '#core/services/set-up/ci-gate.ts';
import { provisionRepo, setProtection } from '#core/services/set-up/provisioning.ts';
import { type VerifyDeps, verifyCiGate } from '#core/services/set-up/verify-ci-gate.ts';
import { recordChange } from '#core/services/tenants/audit.ts';
import { tryWake } from '#core/services/wakes/send-wakes.ts';

export type ForgeOpsDeps = DiscoverDeps &
  EnrollDeps &
  UpdateDeps &
  VerifyDeps &
  EnqueueDeps &
  GateLogDeps &
  NoticeWebhookDeps & { readonly store: RepoFactsStore };

export function createForgeOpsRoutes(deps: ForgeOpsDeps): ApiHandlers<'forge-ops'> {
  return { ...settingsRoutes(deps), ...provisioningRoutes(deps), ...scheduleRoutes(deps) };
}

function settingsRoutes(deps: ForgeOpsDeps) {
  const show = async (repo: ManagedRepo) => ({
    status: 200 as const,
    body: toManagedRepoView(await readFactsOf(deps.store, repo, deps.planLimits)),
  });
  return {
    discoverRepos: async ({ tenantId, id }) => {
      const repos = await discoverRepos(deps, tenantId, id);
      return { status: 200, body: { repos: repos.map(toForgeRepoView) } };
    },
    enrollRepo: async ({ tenantId, body }) => {
      const repo = await enrollRepo(deps, tenantId, {
        connectionId: body.connection_id,
        slug: body.repo_slug,
        baseBranch: body.base_branch,
        statusContext: body.status_context,
        mergeStyle: body.merge_style,
        automerge: body.automerge,
        wakeupMode: body.wakeup_mode,
        notification: toTargets(body.notification ?? null),
      });
      return { status: 201, body: toEnrolledRepo(repo) };
    },
    updateRepo: async ({ tenantId, id, body }) => {
      const repo = await updateRepo(deps, tenantId, id, {
        ...toSettings(body),
        statusContext: body.status_context,
        notification: body.notification === undefined ? undefined : toTargets(body.notification),
      });
      return show(repo);
    },
    setNoticeWebhook: async ({ tenantId, id, body }) => {
      const { host, secret } = await setNoticeWebhook(deps, tenantId, id, body.url);
      return { status: 200, body: { host, secret: secret.reveal() } };
    },
    removeNoticeWebhook: async ({ tenantId, id }) => {
      await removeNoticeWebhook(deps, tenantId, id);
      return { status: 204 };
    },
    pauseRepo: async ({ tenantId, id, body }) =>
      show(await pauseRepo(deps, tenantId, id, toWantedPause('pause', body))),
    drainRepo: async ({ tenantId, id, body }) =>
      show(await pauseRepo(deps, tenantId, id, toWantedPause('drain', body))),
    resumeRepo: async ({ tenantId, id }) => show(await pauseRepo(deps, tenantId, id, null)),
  } satisfies Partial<ApiHandlers<'forge-ops'>>;
}

function provisioningRoutes(deps: ForgeOpsDeps) {
  const note = (repo: ManagedRepo, action: string, result: 'ok' | 'failed' = 'ok') =>
    recordChange(deps, repo.tenantId, action, repo.id, result);
  /** A look at once, which reads the set-up anew: pull requests may wait for it. */
  const wake = (repo: ManagedRepo) => tryWake(deps, repo.id);
  const shown = async (repo: ManagedRepo) =>
    toProvisioning(repo, (await deps.store.loadReconcileOutcome(repo)) ?? undefined);
  return {
    provisionRepo: async ({ tenantId, id }) => {
      const result = await provisionRepo(deps, await loadOwnRepo(deps.store, tenantId, id));
      await note(result.repo, 'repo.provision', result.kind === 'done' ? 'ok' : 'failed');
      if (result.kind !== 'done') throw failedAs(result.kind);
      await wake(result.repo);
      return { status: 200, body: { provisioning: await shown(result.repo) } };
    },
    protectRepo: async ({ tenantId, id, body }) => {
      const own = await loadOwnRepo(deps.store, tenantId, id);
      const { kind, repo } = await setProtection(deps, own, body.enabled);
      // The opt-in is stored before the forge is asked, so a failure is a change as well.
      await note(repo, body.enabled ? 'repo.protect' : 'repo.unprotect', kind === 'done' ? 'ok' : 'failed');
      if (kind === 'forge_unreachable') throw notProtected(repo);
      if (kind !== 'done') throw failedAs(kind);
      await wake(repo);
      return {
        status: 200,
        body: { protection_requested: repo.protectionRequested, provisioning: await shown(repo) },
      };
    },
    openSetupPull: async ({ tenantId, id }) => {
      const repo = await loadOwnRepo(deps.store, tenantId, id);
      const result = await openSetupPull(deps, repo);
      if (result.kind === 'failed') {
        await note(repo, 'ci_gate.setup', 'failed');
        throw failureOf(result);
      }
      await note(result.repo, 'ci_gate.setup');
      const { number, url } = result.pull;
      return { status: 201, body: { ci_gate: { status: 'setup_pr_open', number, url } } };
    },
    verifyGate: async ({ tenantId, id }) => {
      const repo = await loadOwnRepo(deps.store, tenantId, id);
      const result = await verifyCiGate(deps, repo);
      if (result.kind === 'failed') {
        await note(repo, 'ci_gate.verify', 'failed');
        throw failureOf(result);
      }
      await note(result.repo, 'ci_gate.verify');
      // A page that watches asks again and again: only the answer that changes something wakes.
      if (result.repo.ciGate.status !== repo.ciGate.status) await wake(result.repo);
      const { status, url } = result.repo.ciGate;
      return {
        status: 200,
        body: { ci_gate: { status, url, probe: { ...result.probe } }, checks: [...result.checks] },
      };
    },
  } satisfies Partial<ApiHandlers<'forge-ops'>>;
}

/** The person's forge token leaves the header here, and goes to the forge of that repository alone. */
function scheduleRoutes(deps: ForgeOpsDeps) {
  return {
    enqueuePull: async ({ tenantId, id, number: text, body, event }) => {
      const number = readNumber(text);
      const asked = { tenantId, id, number, token: readForgeToken(event.headers) };
      const { already } = await enqueuePull(deps, asked, body.head);
      return { status: 200, body: { number, head: body.head, already } };
    },
    readGateLog: async ({ tenantId, id, number }) => ({
      status: 200,
      body: await readGateLog(deps, tenantId, id, readNumber(number)),
    }),
    dequeuePull: async ({ tenantId, id, number, event }) => {
      const token = readForgeToken(event.headers);
      await dequeuePull(deps, { tenantId, id, number: readNumber(number), token });
      return { status: 204 };
    },
  } satisfies Partial<ApiHandlers<'forge-ops'>>;
}

function readNumber(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new AppError('not_found');
  return Number(text);
}

function failureOf({ code, missingScopes = [], refusal, checks }: Failed): AppError {
  if (code === 'forge_access_denied' && refusal === undefined) return accessDenied(missingScopes);
  if (refusal !== undefined) return new AppError(code, { message: describeRefusalCause(refusal) });
  return new AppError(code, checks === undefined ? {} : { more: { checks } });
}

/** One code for all of it ; the words say which it was. */
function notProtected(repo: ManagedRepo): AppError {
  const { protection } = repo.provisioning;
  const why =
    protection.kind === 'denied'
      ? 'the bot may not edit branch rules there'
      : describeReasons(protection.reasons, repo);
  return new AppError(
    'forge_unreachable',
    why === null ? {} : { message: `Protection could not be configured: ${why}.` },
  );
}
