import { UnreadableValue } from '#core/adapters/dynamo/rows/codec.ts';
import { engineReport, reconcileOutcome } from '#core/adapters/dynamo/rows/outcomes.ts';
import { repoSettings } from '#core/adapters/dynamo/rows/repo-item.ts';
import { toRepoRow } from '#core/adapters/dynamo/rows/rows.ts';
import { givenRepo } from '../../../../../builders/managed-repo.ts';

/** A word, and an attribute, that only a newer release knows: it has written the rows, and was rolled back. */
const NEWER = 'of_the_next_release';

const REPORT = { fence: 1, at: 1, error_code: null, wake_at: null, log_tail: [] };
const OUTCOME = { ran_at: 1, ok: true, error_code: null };

describe('of a look that a newer release took', () => {
  test.each([
    ['report', engineReport, REPORT],
    ['outcome', reconcileOutcome, OUTCOME],
  ])('the %s is read without what it says in words of its own', (_name, codec, row) => {
    const said = {
      missing_scopes: [NEWER],
      refusal: NEWER,
      rule: { at: 1, reasons: ['context_not_required', NEWER] },
      hook: { since: 1, at: 1, state: NEWER },
      forge: { kind: NEWER, major: 1, minor: 2, patch: 3 },
      sight: { tip: 't', newest: NEWER, settled: true, since: 1 },
    };
    expect(codec.read({ ...row, ...said })).toEqual(codec.read(row));
  });

  test.each([
    ['report', engineReport, REPORT],
    ['outcome', reconcileOutcome, OUTCOME],
  ])('a failure that only that release can name is a failure: %s', (_name, codec, row) => {
    expect(codec.read({ ...row, error_code: NEWER })).toMatchObject({ errorCode: 'engine_error' });
    expect(() => codec.read({ ...row, error_code: 7 })).toThrow(UnreadableValue);
  });
});

describe('the row of a repository that a newer release has written', () => {
  const givenRow = (changes: object) => ({ ...repoSettings.write(givenRepo()), ...changes });
  const provisioned = (protection: object, webhook = 'registered') =>
    givenRow({
      provisioning: { webhook, protection, stray_contexts: [], last_provisioned_at: 5 },
    });

  test.each([
    { kind: 'required', rule_name: 'main', reasons: [NEWER] },
    { kind: NEWER, rule_name: 'main', reasons: [] },
  ])('a rule that it describes in words of its own is no rule that is known to be in order', (protection) => {
    const { provisioning } = repoSettings.read(provisioned(protection));
    expect(provisioning.protection).toEqual({ kind: 'failed', ruleName: 'main', reasons: [] });
  });

  test('so are its hook, its gate, its repairs and its pause', () => {
    const protection = { kind: 'required', rule_name: 'main', reasons: [] };
    const read = repoSettings.read({
      ...provisioned(protection, NEWER),
      ci_gate: { status: NEWER, url: null, setup_pr: null, probe: null },
      repairs: [{ kind: 'webhook', at: 1, result: NEWER }],
      pause: { kind: NEWER, reason: null, since: 1, until: null },
    });
    expect(read).toMatchObject({
      provisioning: { webhook: 'failed', protection: { kind: 'required' } },
      ciGate: { status: 'awaiting_validation' },
      repairs: [{ kind: 'webhook', at: 1, result: 'failed' }],
      pause: { kind: 'pause' },
    });
    expect(
      repoSettings.read(givenRow({ repairs: [{ kind: NEWER, at: 1, result: 'done' }] })),
    ).not.toHaveProperty('repairs');
  });

  test('the topics that this release knows are told', () => {
    const row = repoSettings.write(givenRepo()) as { notice_topics: Record<string, string[]> };
    row.notice_topics.email = ['landed', NEWER];
    expect(repoSettings.read(row).noticeTopics.email).toEqual(['landed']);
  });

  test.each(['merge_style', 'gate', 'wakeup_mode'])('a %s of its own is not guessed', (name) => {
    expect(() => repoSettings.read(givenRow({ [name]: NEWER }))).toThrow(UnreadableValue);
  });

  test('keeps what it holds beyond this release when this one writes it', () => {
    const stored = {
      ...toRepoRow(
        givenRepo({
          webhookSecretOf: 'repo-0',
          notification: { email: 'a@b.example', slack: null, discord: null, matrix: null, webhook: null },
        }),
      ),
      [NEWER]: { people: ['ann'] },
      gsi2sk: 'an earlier slug',
    };
    Object.assign((stored as { notification?: object }).notification ?? {}, { [NEWER]: 'a room' });
    const next = { ...repoSettings.read(stored), wakeSeq: 1, dueAt: null, batchTarget: 7 };
    const { webhookSecretOf: _, ...without } = next;
    const written = toRepoRow(without, stored);
    expect(written).toMatchObject({
      [NEWER]: { people: ['ann'] },
      notification: { email: 'a@b.example', [NEWER]: 'a room' },
      batch_target: 7,
      gsi2sk: 'acme/app#repo-1',
    });
    expect(written).not.toHaveProperty('webhook_secret_of');
    expect(toRepoRow({ ...without, tombstone: true }, stored)).not.toHaveProperty('gsi2pk');
    expect(toRepoRow({ ...without, notification: null }, stored).notification).toBeNull();
  });
});
