import type { DependencyCount } from '#core/domain/forge/forge.ts';
import type { PullRequestNumber } from '#core/domain/ids.ts';
import { ForgeError } from '#core/ports/forge.ts';
import { readAllPages } from './wire/paging.ts';
import { readBody } from './wire/read-body.ts';
import { DependencyRows } from './wire/schema.ts';
import type { ForgeTransport } from './wire/transport.ts';

/** Counts the open dependencies of a pull request. A repository with dependencies switched off answers 404. */
export async function countDependencies(
  transport: ForgeTransport,
  pr: PullRequestNumber,
): Promise<DependencyCount> {
  const call = {
    method: 'GET',
    label: 'GET issues/{n}/dependencies',
    path: [...transport.repoPath, 'issues', String(pr), 'dependencies'],
  } as const;
  try {
    const rows = await readAllPages(transport, call, (answer) => readBody(DependencyRows, call, answer));
    const seen = rows.filter((row) => row !== null && row.number !== 0);
    return { open: seen.filter((row) => row?.state === 'open').length, hidden: rows.length - seen.length };
  } catch (error) {
    if (error instanceof ForgeError && error.kind === 'missing') return { open: 0, hidden: 0 };
    throw error;
  }
}
