import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { ForgeError } from '#core/ports/forge.ts';
import { createAbstractForge } from '../fakes/abstract-forge/index.ts';
import type { ApiWorld } from './api-world.ts';

/**
 * A forge beside the API, with one open pull request. A forge token is the name of its person there: `developer` may
 * write, `mere-reader` may only read, `forgejo-actions` is a job, the bot is the bot; every other token is refused.
 */
export async function givePerson(world: ApiWorld, repo: ManagedRepo) {
  const connection = await world.store.getConnection(repo.tenantId, repo.connectionId);
  const bot = connection?.botUsername ?? '';
  const forge = createAbstractForge({ clock: world.clock, slug: repo.slug, bot });
  const pr = await forge.openPullRequest({ branch: 'one', files: { 'one.txt': 'one' } });
  await forge.setAccess('mere-reader', 'read');
  await world.clock.advance(10_000);
  world.openPerson = (_, token) => {
    const login = token.reveal();
    if (!['developer', 'mere-reader', 'forgejo-actions', bot].includes(login)) {
      const no = () => Promise.reject(new ForgeError('denied', 'GET user', 401));
      return { readRepoId: no, readAccount: no, readPull: no, readProtection: no, schedule: no, cancel: no };
    }
    return forge.asPerson(login);
  };
  return { forge, pr, head: forge.headOf(pr) };
}
