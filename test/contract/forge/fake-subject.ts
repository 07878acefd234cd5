import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGuardedHttp } from '#core/adapters/http-guard/guarded-http.ts';
import { BOT, createFakeForge, PERSON_SCOPES } from '../../../local/forge/fake-forge.ts';
import type { ProfileName } from '../../../local/forge/profiles.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import type { ForgeSubject, Means } from './subject.ts';
import { VERSION_FACTS } from './version-facts.ts';

/** A fake can be told to do all that a test asks for. */
export const FAKE_MEANS = [
  'fake',
  'person',
  'reader',
  'runner',
  'webhooks',
  'scoped',
] as const satisfies readonly Means[];

/** The fake over real git, on virtual time and a real socket. What it does later than its answer takes it a while. */
export async function openFake(profile: ProfileName): Promise<ForgeSubject> {
  const dataDir = mkdtempSync(join(tmpdir(), 'forge-contract-'));
  const clock = new VirtualClock();
  const failures: unknown[] = [];
  const fake = createFakeForge({
    dataDir,
    profile,
    timers: clock,
    seed: null,
    knobs: { pushDelayMs: 1500, checkDelayMs: 2500, actionsDelayMs: 500, gateDurationMs: 3000 },
    onError: (error) => failures.push(error),
  });
  const address = await fake.start();
  const host = new URL(address.httpsUrl).host;
  const http = createGuardedHttp({ allowHosts: [host], caPem: readFileSync(address.caFile, 'utf8') });
  for (const login of ['dev', 'guest', BOT]) fake.addUser(login);
  const grant = (login: string) => ({ login, token: fake.addToken(login, PERSON_SCOPES) });
  let repos = 0;
  const topics = new Map<string, number>();
  return {
    access: {
      instanceUrl: address.httpsUrl,
      send: http.send,
      clientToken: fake.addToken(BOT),
      scopedToken: fake.addToken(BOT, ['read:repository']),
      tokens: { bot: grant(BOT), person: grant('dev'), reader: grant('guest') },
    },
    facts: VERSION_FACTS[profile],
    tellsRuns: fake.profile.runsApi !== null,
    listsRuns: fake.profile.runsApi !== null && !fake.profile.runsForOwners,
    asksForkForMergeRight: fake.profile.permissionOnHeadRepo,
    cancelsRuns: fake.profile.runCancelApi,
    hasRulePriorities: fake.profile.rulePriorities,
    workflowDir: fake.profile.workflowDirs[0] ?? '',
    fake,
    async createRepo(files) {
      repos += 1;
      const name = `app-${repos}`;
      const collaborators = { dev: 'write', guest: 'read', [BOT]: 'admin' } as const;
      await fake.createRepo({ owner: 'acme', name, files, collaborators, private: true });
      return `acme/${name}`;
    },
    async fork(slug) {
      const fork = await fake.fork(slug, 'dev');
      return `${fork.owner}/${fork.name}`;
    },
    async pushAgit(slug, topic, files) {
      const control = fake.controlFor(slug);
      const earlier = topics.get(`${slug} ${topic}`);
      if (earlier !== undefined) return control.pushToPullRequest(earlier, files);
      const pr = await control.openPullRequest({ branch: topic, files, agit: true, author: 'guest' });
      topics.set(`${slug} ${topic}`, pr);
      return (await control.pull(pr)).headSha;
    },
    now: () => clock.now(),
    async wait() {
      await clock.advance(1000);
      await fake.settle();
    },
    async stop() {
      http.close();
      await fake.stop();
      rmSync(dataDir, { recursive: true, force: true });
      if (failures.length > 0) throw failures[0];
    },
  };
}
