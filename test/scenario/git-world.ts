import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEngineForge } from '#core/adapters/forge-http/engine-forge.ts';
import { createGuardedHttp } from '#core/adapters/http-guard/guarded-http.ts';
import { Secret } from '#core/secret.ts';
import { BOT, createFakeForge } from '../../local/forge/fake-forge.ts';
import type { ProfileName } from '../../local/forge/profiles.ts';
import type { Knobs } from '../../local/forge/world.ts';
import { givenHeldLease } from '../builders/held-lease.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { createWorldOn, type World, type WorldOptions } from './world.ts';

/** Worlds over the fake forge on real git, spoken to by the real client over HTTPS, on virtual time. */
export function gitWorlds(profile: ProfileName): {
  readonly create: (options?: WorldOptions, knobs?: Partial<Knobs>) => Promise<World>;
  readonly closeAll: () => Promise<void>;
} {
  const closers: (() => Promise<void>)[] = [];
  return {
    async create(options = {}, knobs = {}) {
      const dataDir = mkdtempSync(join(tmpdir(), 'queue-scenario-'));
      const clock = new VirtualClock();
      const failures: unknown[] = [];
      const fake = createFakeForge({
        dataDir,
        profile,
        timers: clock,
        knobs: { gateDurationMs: 30_000, actionsDelayMs: 500, ...knobs },
        onError: (error) => failures.push(error),
      });
      const address = await fake.start();
      const { host } = new URL(address.httpsUrl);
      const http = createGuardedHttp({ allowHosts: [host], caPem: readFileSync(address.caFile, 'utf8') });
      closers.push(async () => {
        http.close();
        await fake.stop();
        rmSync(dataDir, { recursive: true, force: true });
        if (failures.length > 0) throw failures[0];
      });
      const token = new Secret(fake.addToken(BOT));
      const newClient = () =>
        createEngineForge(givenHeldLease(), {
          instanceUrl: address.httpsUrl,
          slug: fake.control.slug,
          token,
          send: http.send,
          clock,
        });
      return createWorldOn(clock, fake.control, newClient, options, () => fake.settle());
    },
    async closeAll() {
      for (const close of closers.splice(0)) await close();
    },
  };
}
