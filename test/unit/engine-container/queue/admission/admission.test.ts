import { Effort } from '#core/domain/effort.ts';
import type { BranchProtection, PullRequest, Review } from '#core/domain/forge/forge.ts';
import { GLOB_STEPS_MAX, type GlobDialect, GlobReader } from '#core/domain/globs/glob.ts';
import { NO_RULES, type ScheduleRules } from '#core/domain/repos/schedule-rules.ts';
import { known, type Reading, UNKNOWN } from '#core/domain/result.ts';
import { admit, requiresContext } from '../../../../../engine-container/src/queue/admission/admission.ts';
import type { AdmissionFacts } from '../../../../../engine-container/src/queue/admission/admission-facts.ts';
import { countReviews } from '../../../../../engine-container/src/queue/admission/reviews.ts';
import { BASE, headOf } from '../../../../builders/queue-record.ts';
import { givenPull, givenReview, givenRule, givenStatus } from '../../../../builders/snapshot.ts';

const HEAD = headOf(7);
const TIP = BASE.sha;
const review = (changes: Partial<Review>): Review => givenReview(HEAD, changes);

const readerOf = (dialect: GlobDialect): GlobReader =>
  new GlobReader(dialect, null, new Effort(GLOB_STEPS_MAX));

function judge(
  changes: Partial<Omit<AdmissionFacts, 'protection' | 'pull' | 'reviews'>> & {
    readonly rule?: Partial<BranchProtection>;
    readonly pull?: Partial<PullRequest>;
    readonly reviews?: Reading<readonly Review[]>;
  } = {},
) {
  const { rule, pull, reviews = known([]), ...facts } = changes;
  const verdict = admit({
    pull: givenPull(7, pull),
    protection: givenRule(rule),
    reviews: reviews.known ? known(countReviews(reviews.value, HEAD)) : UNKNOWN,
    statuses: known([]),
    context: 'mq',
    baseTip: TIP,
    twinAhead: false,
    mergeStyle: 'squash',
    globs: readerOf('gitea'),
    ...facts,
  });
  return verdict.kind === 'admitted' ? 'admitted' : `${verdict.kind}: ${verdict.reason}`;
}

test.each([
  ['squash', false, 'refused: title_not_mergeable'],
  ['merge', false, 'refused: title_not_mergeable'],
  // It makes no message of it.
  ['rebase', false, 'admitted'],
  // The message is of the time at which it was scheduled.
  ['squash', true, 'admitted'],
] as const)(
  'a title that git takes in no message, style %s, landing %s: %s',
  (mergeStyle, isLanding, verdict) => {
    expect(judge({ mergeStyle, isLanding, isTitleBad: true })).toBe(verdict);
  },
);

test.each([
  [true, true, 'refused: merge_unsigned'],
  [true, false, 'admitted'],
  [false, true, 'admitted'],
])('signed commits asked for %s, and found to be why %s: %s', (requiresSigned, isUnsigned, verdict) => {
  expect(judge({ rule: { requiresSigned }, isUnsigned })).toBe(verdict);
  // What may be why besides is not hidden by the rule.
  const dependencies = known({ open: 0, hidden: 1 });
  expect(judge({ rule: { requiresSigned }, isMissed: true, dependencies })).toBe(
    'refused: dependency_hidden',
  );
});

const AUDIT = 'acme/policies: Audit / audit (push)';

test.each([
  [AUDIT, 'failure', true, true, 'refused: check_hidden'],
  [AUDIT, 'pending', true, true, 'refused: check_hidden'],
  [AUDIT, 'success', true, true, 'admitted'],
  [AUDIT, 'skipped', true, true, 'admitted'],
  [AUDIT, 'failure', false, true, 'admitted'],
  [AUDIT, 'failure', true, false, 'admitted'],
  // Of this repository, or of another CI: the rule would name it.
  ['Lint / lint (push)', 'failure', true, true, 'admitted'],
  ['ci/lint', 'failure', true, true, 'admitted'],
])(
  'the check "%s" in %s, where hidden ones may be asked for %s, and a merge that was missed %s: %s',
  (context, state, hidesChecks, isMissed, verdict) => {
    const statuses = known([givenStatus({ context, state })]);
    expect(judge({ statuses, hidesChecks, isMissed })).toBe(verdict);
    // A signature is found by its time-outs.
    expect(judge({ statuses, hidesChecks, isMissed, rule: { requiresSigned: true } })).toBe('admitted');
  },
);

describe('reviews (A31, D-04)', () => {
  const one = { requiredApprovals: 1 };
  test.each([
    ['no rule', {}, [], 'admitted'],
    ['approval missing', one, [], 'refused: approvals_missing'],
    ['approved', one, [review({})], 'admitted'],
    [
      'approved by an account whose approval does not count',
      one,
      [review({ official: false })],
      'refused: approvals_missing',
    ],
    ['approval dismissed', one, [review({ dismissed: true })], 'refused: approvals_missing'],
    ['stale approval counts by default', one, [review({ stale: true })], 'admitted'],
    [
      'stale approval ignored by the rule',
      { ...one, ignoreStaleApprovals: true },
      [review({ stale: true })],
      'refused: approvals_missing',
    ],
    ['two needed, one there', { requiredApprovals: 2 }, [review({})], 'refused: approvals_missing'],
    ['rejection without the rule', {}, [review({ state: 'changes_requested' })], 'admitted'],
    [
      'rejection with the rule',
      { blockOnRejectedReviews: true },
      [review({ state: 'changes_requested' })],
      'refused: changes_requested',
    ],
    [
      'a stale rejection still blocks',
      { blockOnRejectedReviews: true },
      [review({ state: 'changes_requested', stale: true })],
      'refused: changes_requested',
    ],
    [
      'a dismissed rejection does not',
      { blockOnRejectedReviews: true },
      [review({ state: 'changes_requested', dismissed: true })],
      'admitted',
    ],
    [
      'an unofficial rejection does not',
      { blockOnRejectedReviews: true },
      [review({ state: 'changes_requested', official: false })],
      'admitted',
    ],
    [
      'an open official request',
      { blockOnOfficialReviewRequests: true },
      [review({ state: 'review_requested' })],
      'refused: review_requested',
    ],
  ] as const)('%s', (_name, rule, reviews, verdict) => {
    expect(judge({ rule, reviews: known([...reviews]) })).toBe(verdict);
  });

  test('thousands of reviews are a handful of counts, and comments are none', () => {
    const many = Array.from({ length: 16_000 }, (_, id) =>
      review({ id, state: id % 2 === 0 ? 'comment' : 'approved', commit: id % 4 === 1 ? HEAD : TIP }),
    );
    expect(countReviews(many, HEAD)).toEqual([
      { state: 'approved', stale: false, onHead: false, count: 4_000 },
      { state: 'approved', stale: false, onHead: true, count: 4_000 },
    ]);
    expect(judge({ rule: { requiredApprovals: 8_000 }, reviews: known(many) })).toBe('admitted');
    expect(judge({ rule: { requiredApprovals: 8_001 }, reviews: known(many) })).toBe(
      'refused: approvals_missing',
    );
  });

  test('unread reviews refuse no pull request and admit none', () => {
    expect(judge({ rule: { requiredApprovals: 1 }, reviews: UNKNOWN })).toBe('waiting: unknown');
  });

  test.each([
    ['no approval', [], 'refused: fork_not_approved'],
    ['approved on an older head', [review({ commit: TIP })], 'refused: fork_not_approved'],
    ['approved on this head', [review({})], 'admitted'],
  ] as const)('a fork, %s (D-99)', (_name, reviews, verdict) => {
    expect(judge({ pull: { fromFork: true }, reviews: known([...reviews]) })).toBe(verdict);
  });

  test.each([
    ['pushed by AGit, without approval', { agit: true }, true, [], 'refused: agit_not_approved'],
    [
      'pushed by AGit, approved before',
      { agit: true },
      true,
      [review({ commit: TIP })],
      'refused: agit_not_approved',
    ],
    ['pushed by AGit, approved as it is', { agit: true }, true, [review({})], 'admitted'],
    ['of an author who may only read', {}, false, [], 'refused: author_not_writer'],
    ['of such an author, approved as it is', {}, false, [review({})], 'admitted'],
    ['of an author who may write', {}, true, [], 'admitted'],
  ] as const)('a head %s (D-99)', (_name, pull, writes, reviews, verdict) => {
    expect(judge({ pull, authorWrites: known(writes), reviews: known([...reviews]) })).toBe(verdict);
  });

  test('an author of whom the forge does not say whether they may write is neither admitted nor refused', () => {
    expect(judge({ authorWrites: UNKNOWN, reviews: known([review({})]) })).toBe('waiting: unknown');
  });
});

test.each<[string, Partial<ScheduleRules>, string]>([
  ['names accounts', { schedulePeople: ['lead'] }, 'waiting: rule_unknown'],
  ['names teams', { scheduleTeams: ['core'] }, 'waiting: rule_unknown'],
  ['refuses the author', { scheduleOwn: false }, 'waiting: rule_unknown'],
  ['asks for the approval of a person', { botApproval: true }, 'waiting: rule_unknown'],
  ['asks nothing about who', {}, 'admitted'],
])(
  'a schedule of which the forge does not say by whom, where a rule %s (%j): %s',
  (_rule, rules, verdict) => {
    expect(judge({ rules: { ...NO_RULES, ...rules }, scheduler: undefined })).toBe(verdict);
  },
);

describe('other rules', () => {
  const status = (context: string, state: string) => givenStatus({ context, state, creator: 'ci' });

  test.each([
    ['missing', [], 'waiting: other_checks'],
    ['pending', [status('lint', 'pending')], 'waiting: other_checks'],
    ['failed', [status('lint', 'failure')], 'waiting: other_checks'],
    ['green', [status('lint', 'success')], 'admitted'],
  ] as const)('another required check %s (D-15)', (_name, statuses, verdict) => {
    expect(judge({ rule: { requiredContexts: ['mq', 'lint'] }, statuses: known([...statuses]) })).toBe(
      verdict,
    );
  });

  test.each([
    ['ci/[a-z0-9]*', 'gitea', 'success', 'admitted'],
    ['ci/[a-z0-9]*', 'gitea', 'pending', 'waiting: other_checks'],
    ['ci/[^x]*', 'gitea', 'failure', 'waiting: other_checks'],
    // Malformed there: the forge leaves it out.
    ['ci/[a-z0-9]*', 'gobwas', 'failure', 'admitted'],
    ['ci/[linux', 'gitea', 'failure', 'admitted'],
    ['ci/[linux', 'gobwas', 'failure', 'admitted'],
  ] as const)(
    'a required pattern as the forge reads it: %s on %s, %s',
    (pattern, dialect, state, verdict) => {
      const rule = { requiredContexts: ['mq', pattern] };
      const globs = readerOf(dialect);
      expect(judge({ rule, globs, statuses: known([status('ci/unit', state)]) })).toBe(verdict);
    },
  );

  /** Each pattern matches one of the statuses, and ours. */
  const given = (count: number) => ({
    rule: { requiredContexts: ['mq', ...Array.from({ length: count }, (_, at) => `*zz${at}*mq*`)] },
    statuses: known(Array.from({ length: count }, (_, at) => status(`ci/zz${at} mq`, 'success'))),
  });

  // Each pattern read anew for each status, this takes ten seconds of the engine of all tenants for one head.
  test('a thousand required patterns over a thousand statuses are judged, each pattern read once for all heads', () => {
    const globs = readerOf('gitea');
    const spent = (): number => {
      const before = globs.effort.left;
      expect(judge({ ...given(1_000), globs })).toBe('admitted');
      return before - globs.effort.left;
    };
    const [first, second] = [spent(), spent()];
    expect(first).toBeLessThan(GLOB_STEPS_MAX / 2);
    expect(second).toBeLessThan(first);
  });

  test('more patterns and statuses than can be read: whether the other checks passed is not known', () => {
    expect(judge(given(5_000))).toBe('waiting: other_checks');
    const long = { requiredContexts: ['mq', `ci/${'*a'.repeat(3_000)}`] };
    expect(judge({ rule: long, statuses: known([status('ci/a', 'success')]) })).toBe('waiting: other_checks');
    const spentBefore = new GlobReader('gitea', null, new Effort(10));
    expect(judge({ ...given(20), globs: spentBefore })).toBe('waiting: other_checks');
  });

  test('unread checks admit no pull request', () => {
    expect(judge({ rule: { requiredContexts: ['mq', 'lint'] }, statuses: UNKNOWN })).toBe('waiting: unknown');
  });

  test('behind the base where the rule forbids it (D-14)', () => {
    expect(judge({ rule: { blockOnOutdatedBranch: true }, pull: { mergeBase: HEAD } })).toBe(
      'refused: branch_outdated',
    );
    expect(judge({ rule: { blockOnOutdatedBranch: true } })).toBe('admitted');
  });

  test('a twin of the same commit waits (D-17)', () => {
    expect(judge({ twinAhead: true })).toBe('waiting: twin');
  });
});

test.each([
  ['mq', true],
  ['mqx', false],
  ['m*', false],
  ['*', false],
] as const)('the rule asks for %s: our own status is what opens the merge: %p (E14)', (pattern, opens) => {
  expect(requiresContext(givenRule({ requiredContexts: [pattern] }), 'mq')).toBe(opens);
});

test('a rule whose status check is off requires nothing', () => {
  expect(requiresContext(givenRule({ statusCheckEnabled: false }), 'mq')).toBe(false);
});
