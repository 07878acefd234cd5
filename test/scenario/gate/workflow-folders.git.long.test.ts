import { gitWorlds } from '../git-world.ts';
import { defineWorkflowFolderTests } from './workflow-folders.suite.ts';

jest.setTimeout(120_000);

const forgejo = gitWorlds('fj15');
const gitea = gitWorlds('gt126');
afterEach(async () => {
  await forgejo.closeAll();
  await gitea.closeAll();
});

defineWorkflowFolderTests([
  { kind: 'forgejo', create: () => forgejo.create() },
  { kind: 'gitea', create: () => gitea.create() },
]);
