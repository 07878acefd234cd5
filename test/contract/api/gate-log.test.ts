import { randomUUID } from 'node:crypto';
import { NO_LOG_WORDS } from '#core/domain/pulls/gate-log.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { ForgeError } from '#core/ports/forge.ts';
import type { ForgeLog } from '#core/ports/forge-log.ts';
import { VaultError } from '#core/ports/system.ts';
import { givenNodeRow } from '../../builders/store-rows.ts';
import { ApiWorld, TENANT_A, TOKEN_A, TOKEN_B } from '../../support/api-world.ts';

const RUN = 'https://git.example.org/acme/app/actions/runs/';
const JOB = { name: 'check', result: 'failure', text: 'expected 1, got 2\n', isCut: true };

async function given(changes: Partial<ManagedRepo> = {}) {
  const world = new ApiWorld();
  const { repo } = await world.enroll(TENANT_A, changes);
  const asked: Parameters<ForgeLog['readRunLog']>[0][] = [];
  world.readRunLog = async (run) => {
    asked.push(run);
    return { kind: 'jobs', jobs: [JOB] };
  };
  const row = (id: number, more: Parameters<typeof givenNodeRow>[0]) =>
    givenNodeRow({
      id: randomUUID(),
      tenantId: TENANT_A,
      repoId: repo.id,
      runUrl: `${RUN}${id}`,
      gateVerdict: 'failure',
      outcome: 'bounced',
      phase: null,
      resolvedAt: id,
      stagingSha: String(id).repeat(40),
      createdAt: id,
      ...more,
    });
  // Newest first, as the store tells them.
  const rows = [
    row(5, { prs: [9] }),
    row(4, { prs: [7], gateSource: 'cached' }),
    row(3, { prs: [7], runUrl: null }),
    row(2, { prs: [7, 8], gateVerdict: 'failure' }),
    row(1, { prs: [7], gateVerdict: 'success' }),
  ];
  world.store.listOwnBatches = async () => rows;
  const path = (number: number | string) => `/api/v1/user/repos/${repo.id}/pulls/${number}/gate-log`;
  const read = (number: number | string = 7, token = TOKEN_A) => world.as(token)('GET', path(number));
  return { world, repo, asked, read };
}

describe('the log of a gate run', () => {
  test('is that of the newest run of the pull request, with what was tested', async () => {
    const { asked, read } = await given();
    const { status, json } = await read();
    expect(asked).toEqual([{ sha: '2'.repeat(40), url: `${RUN}2` }]);
    expect([status, json]).toEqual([
      200,
      {
        number: 7,
        run_url: `${RUN}2`,
        gate_verdict: 'failure',
        tree: 'b'.repeat(40),
        prs: [7, 8],
        reason: null,
        words: null,
        jobs: [{ name: 'check', result: 'failure', text: 'expected 1, got 2\n', is_cut: true }],
      },
    ]);
  });

  test('is stored nowhere and logged nowhere (A134)', async () => {
    const { world, read } = await given();
    const canary = 'a line of the log, seen once';
    world.readRunLog = async () => ({ kind: 'jobs', jobs: [{ ...JOB, text: canary }] });
    expect((await read()).text).toContain(canary);
    expect([world.store.dump(), ...world.lines].join()).not.toContain(canary);
  });

  test.each(['not_offered', 'no_run'] as const)('%s: the page of the run, and a sentence', async (kind) => {
    const { world, read } = await given();
    world.readRunLog = async () => ({ kind });
    expect((await read()).json).toMatchObject({
      run_url: `${RUN}2`,
      reason: kind,
      words: NO_LOG_WORDS[kind],
      jobs: [],
    });
  });

  test('of another CI is on its own page: the forge is not asked', async () => {
    const { asked, read } = await given({ gate: 'statuses', gateContexts: ['ci'], gateAuthors: ['ci'] });
    expect((await read()).json).toMatchObject({ run_url: `${RUN}2`, reason: 'gate_by_statuses', jobs: [] });
    expect(asked).toEqual([]);
  });

  test('of a pull request without a gate run is none', async () => {
    const { asked, read } = await given();
    expect((await read(4711)).json).toMatchObject({ run_url: null, reason: 'no_gate_run', jobs: [] });
    expect([(await read('x')).code, asked]).toEqual(['not_found', []]);
  });

  test('of a pull request of another account is not found', async () => {
    const { asked, read } = await given();
    expect([(await read(7, TOKEN_B)).code, asked]).toEqual(['not_found', []]);
  });

  test('that cannot be read is refused with why', async () => {
    const { world, read } = await given();
    world.readRunLog = () => Promise.reject(new ForgeError('denied', 'GET actions/jobs/{id}/logs', 403));
    expect((await read()).code).toBe('forge_access_denied');
    world.readRunLog = () => Promise.reject(new ForgeError('unreachable', 'GET actions/runs', null));
    expect((await read()).code).toBe('forge_unreachable');
    world.vault.open = () => Promise.reject(new VaultError('undecryptable'));
    expect((await read()).code).toBe('decryption_error');
  });
});
