import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEngineForge } from '#core/adapters/forge-http/engine-forge.ts';
import { createGuardedHttp } from '#core/adapters/http-guard/guarded-http.ts';
import { Secret } from '#core/secret.ts';
import { BOT, createFakeForge } from '../../local/forge/fake-forge.ts';
import { PERSON } from '../../local/forge/people.ts';
import type { ProfileName } from '../../local/forge/profiles.ts';
import type { Knobs } from '../../local/forge/world.ts';
import { givenHeldLease } from '../builders/held-lease.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { GitDesk } from './trees/git-desk.ts';
import { createWorldOn, type World, type WorldOptions } from './world.ts';

/** Worlds over the fake forge on real git, spoken to by the real client over HTTPS, on virtual time. */
export function gitWorlds(profile: ProfileName): {
  readonly create: (options?: WorldOptions, knobs?: Partial<Knobs>) => Promise<World>;
  /** The clone of a person, for histories that no act of a person on the forge makes soon enough. */
  readonly openDesk: (world: World) => Promise<GitDesk>;
  readonly closeAll: () => Promise<void>;
} {
  const closers: (() => Promise<void>)[] = [];
  const desks = new Map<World, () => GitDesk>();
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
      const world = await createWorldOn(clock, fake.control, newClient, options, () => fake.settle());
      desks.set(world, () => {
        const { slug } = fake.control;
        const url = `https://${PERSON}:${fake.addToken(PERSON)}@${host}/${slug}.git`;
        return new GitDesk(url, address.caFile);
      });
      return world;
    },
    async openDesk(world) {
      const desk = desks.get(world)?.();
      if (desk === undefined) throw new Error('no world of these');
      closers.push(async () => desk.dispose());
      await desk.open();
      return desk;
    },
    async closeAll() {
      for (const close of closers.splice(0)) await close();
    },
  };
}

/** Calls of the queue that list commits. */
export function countListings(world: World): number {
  return world.forge.calls().filter(({ call, by }) => by === BOT && call === 'GET commits').length;
}
