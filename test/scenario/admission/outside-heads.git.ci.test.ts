import { gitWorlds } from '../git-world.ts';
import { describeOutsideHeads, OUTSIDE } from './outside-heads.suite.ts';

// Git processes on a busy machine: the limit is there to end a hang, not to time anything.
jest.setTimeout(120_000);

const gitea = gitWorlds('gt126');
const forgejo = gitWorlds('fj15');
afterEach(async () => {
  await gitea.closeAll();
  await forgejo.closeAll();
});

describeOutsideHeads('Gitea on real git over HTTPS', () => gitea.create());
// Forgejo asks the fork for the scheduler's right to merge, which is another rule with tests of its own.
describeOutsideHeads('Forgejo on real git over HTTPS', () => forgejo.create(), OUTSIDE.slice(1));
