import { EnrollRepoBody } from '#core/contracts/repos/managed-repo.ts';
import { MERGE_STYLES } from '#core/domain/repos/merge-style.ts';
import {
  DEFAULT_OPTIONS,
  defaultChoice,
  ENROLLMENT_FAULTS,
  enrollmentOf,
  type Found,
  stylesOf,
} from '../../../../dashboard/view/enrollment.ts';

const FOUND: Found = {
  full_name: 'acme/app',
  name: 'app',
  owner: 'acme',
  html_url: 'https://git.example.org/acme/app',
  private: false,
  default_branch: 'trunk',
  merge_styles: ['merge', 'rebase'],
  default_merge_style: 'rebase',
};
const FILLED = {
  ...({
    wakeup: 'poll',
    context: ' ci/mq ',
    automerge: true,
    perBranch: false,
    email: 'a@example.org',
  } as const),
  slack: 'https://hooks.slack.com/services/T/B/x',
  discord: 'https://discord.com/api/webhooks/1/x',
  matrixHomeserver: 'https://matrix.org/',
  matrixRoom: ' !abc:matrix.org',
  matrixToken: 'syt_x',
};

test('nothing that an enrollment takes is unreachable on the page', () => {
  const body = enrollmentOf('id', FOUND, { baseBranch: 'release/1.x', mergeStyle: 'merge' }, FILLED, 'mq');
  expect(body).toEqual({
    connection_id: 'id',
    repo_slug: 'acme/app',
    base_branch: 'release/1.x',
    merge_style: 'merge',
    automerge: true,
    wakeup_mode: 'poll',
    status_context: 'ci/mq',
    notification: {
      email: 'a@example.org',
      chat_a_webhook_url: FILLED.slack,
      chat_b_webhook_url: FILLED.discord,
      matrix: { homeserver: 'https://matrix.org', room: '!abc:matrix.org', token: 'syt_x' },
    },
  });
  const taken = Object.entries(EnrollRepoBody.shape)
    .filter(
      ([, schema]) =>
        !schema.safeParse(undefined).success || schema.safeParse(null).success || isOpen(schema),
    )
    .map(([name]) => name);
  expect(Object.keys(body).sort()).toEqual(taken.sort());
  expect(EnrollRepoBody.safeParse(body).success).toBe(true);
});

/** Takes something beside nothing: a credential sent inline takes nothing at all. */
function isOpen(schema: { safeParse(value: unknown): { success: boolean } }): boolean {
  return ['x', 'poll', 'squash', true].some((value) => schema.safeParse(value).success);
}

test('the defaults are the forge’s own branch and style, by webhook, without notices', () => {
  expect(enrollmentOf('id', FOUND, defaultChoice(FOUND), DEFAULT_OPTIONS, 'mq')).toEqual({
    connection_id: 'id',
    repo_slug: 'acme/app',
    base_branch: 'trunk',
    merge_style: 'rebase',
    automerge: false,
    wakeup_mode: 'webhook',
  });
});

test.each([
  ['', 'mq/trunk'],
  [' ci/gate ', 'ci/gate/trunk'],
])(
  'where another branch could share a head, the context %j is offered with the branch in it',
  (context, named) => {
    const options = { ...DEFAULT_OPTIONS, perBranch: true, context };
    const body = enrollmentOf('id', FOUND, defaultChoice(FOUND), options, 'mq');
    expect(body.status_context).toBe(named);
    expect(EnrollRepoBody.safeParse(body).success).toBe(true);
  },
);

test.each<[string, Partial<Found>, string, readonly string[]]>([
  ['its default', { default_merge_style: 'merge', merge_styles: null }, 'merge', MERGE_STYLES],
  [
    'squash, where the forge’s is another kind',
    { default_merge_style: null, merge_styles: null },
    'squash',
    MERGE_STYLES,
  ],
  ['one that is allowed, where squash is not', { default_merge_style: null }, 'merge', ['merge', 'rebase']],
  [
    'one that is allowed, where the default is not',
    { default_merge_style: 'squash' },
    'merge',
    ['merge', 'rebase'],
  ],
  [
    'squash, where none that we know is allowed',
    { default_merge_style: null, merge_styles: [] },
    'squash',
    MERGE_STYLES,
  ],
])('the style that is preselected is %s', (_name, changes, style, styles) => {
  const found = { ...FOUND, ...changes };
  expect(defaultChoice(found).mergeStyle).toBe(style);
  expect(stylesOf(found)).toEqual(styles);
});

test('a refused field is named in words', () => {
  expect(ENROLLMENT_FAULTS.base_branch).toContain('base branch');
  expect(ENROLLMENT_FAULTS.connection_id).toBeUndefined();
});
