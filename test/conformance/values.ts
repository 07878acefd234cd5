import {
  baseCharsMax,
  DEFAULT_SERVICE_NAME,
  stagingBranch,
  stagingPrefix,
} from '#core/domain/queue/queue-names.ts';
import type { SeededRandom } from '../support/seeded-random.ts';

/** The material of requests; ids are added as answers come back. */
export interface Material {
  readonly tokens: readonly string[];
  /** Ids of the tenants behind the tokens; one of them may be offboarded. */
  readonly tenantIds: readonly string[];
  readonly adminKey: string;
  readonly instanceUrls: readonly string[];
  readonly botLogins: readonly string[];
  readonly forgeTokens: readonly string[];
  readonly slugs: readonly string[];
  readonly connectionIds: string[];
  readonly repoIds: string[];
  /** Authorization header with which a row was made, by its id. */
  readonly owners: Map<string, string>;
  /** Made on the way; some of them were revoked or name other repositories. */
  readonly apiTokens: MadeToken[];
  /** A signature for a delivery of this repository, or one that cannot be right. */
  readonly hook: { readonly body: string; readonly signature: string } | null;
}

/** An API token that an answer has shown, with what it may do. */
export interface MadeToken {
  readonly id: string;
  readonly text: string;
  readonly scopes: readonly { readonly scope: string; readonly repo_ids: readonly string[] | null }[];
  /** Every call with it that began later must be refused. */
  revoked: boolean;
}

/** Values of one field as JSON text: what a route takes, and what it must refuse whatever else was sent. */
export interface FieldValues {
  readonly required?: boolean;
  readonly good: (random: SeededRandom, material: Material) => string;
  readonly bad: readonly string[];
}

/** The head of every pull request that requests name. */
export const ANY_HEAD = 'a'.repeat(40);

const json = (value: unknown): string => JSON.stringify(value);
const text = (choose: (random: SeededRandom, material: Material) => string) => ({
  good: (random: SeededRandom, material: Material) => json(choose(random, material)),
});

const NOT_TEXT = ['null', 'true', '0', '1.5', '1e400', '[]', '{}', '["x"]', '{"toString":"x"}'];
const NOT_FLAG = ['null', '"true"', '0', '1', '[]', '{}', '""'];
const NOT_WHOLE = ['null', '"3"', 'true', '1.5', '1e400', '-1e400', '[]', '{}', '9007199254740993', '-1'];
const LONG = json('x'.repeat(600));
const CONTROL = ['"\\u0000"', '"a\\u0000b"', '"\\r\\nX: y"', '"\\ud800"', '"\\u202ex"', '"\u00e9"'];

const BAD_URLS = [
  'http://git.example.org',
  'ftp://git.example.org',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'https://u:p@git.example.org',
  'https:git.example.org',
  'https://',
  '//git.example.org',
  'git.example.org',
  ' https://git.example.org',
  'https://git.example.org\\x',
  'https://git.example.org/a b',
].map(json);

const instanceUrl: FieldValues = {
  required: true,
  ...text((random, material) => pick(random, material.instanceUrls)),
  bad: [...NOT_TEXT, ...CONTROL, ...BAD_URLS, LONG, '""', json(`https://${'a'.repeat(200)}.example.org`)],
};
const token: FieldValues = {
  required: true,
  ...text((random, material) => pick(random, material.forgeTokens)),
  bad: [...NOT_TEXT, ...CONTROL, LONG, '""', '"a b"', json('t'.repeat(256)), '"a\\"b"'],
};
const login: FieldValues = {
  required: true,
  ...text((random, material) => pick(random, material.botLogins)),
  bad: [...NOT_TEXT, ...CONTROL, LONG, '""', '"a b"', json('b'.repeat(65))],
};
const optional = ({ good, bad }: FieldValues): FieldValues => ({ good, bad });
const choice = (names: readonly string[]): FieldValues => ({
  ...text((random) => pick(random, names)),
  bad: [...NOT_TEXT, '""', '"x"', json(names[0]?.toUpperCase()), json(`${names[0]} `)],
});
const whole = (min: number, max: number): FieldValues => ({
  good: (random) => String(pick(random, [min, max, min + random.int(max - min + 1)])),
  bad: [...NOT_WHOLE, String(min - 1), String(max + 1)],
});
/** A whole number, or null where that has a meaning of its own. */
const wholeOrNull = (min: number, max: number): FieldValues => ({
  good: (random, material) => (random.chance(0.2) ? 'null' : whole(min, max).good(random, material)),
  bad: whole(min, max).bad.filter((text) => text !== 'null'),
});
/** A whole number, or the word that leaves it to the queue. */
const wholeOrAuto = (min: number, max: number): FieldValues => ({
  good: (random, material) => (random.chance(0.2) ? '"auto"' : whole(min, max).good(random, material)),
  bad: [...whole(min, max).bad, '"AUTO"', '"auto "'],
});
const flag: FieldValues = { good: (random) => String(random.chance(0.5)), bad: NOT_FLAG };
const context: FieldValues = {
  ...text((random) =>
    pick(random, [DEFAULT_SERVICE_NAME, `ci/${DEFAULT_SERVICE_NAME}`, 'a', 'A.b_c-d e/f', 'x'.repeat(100)]),
  ),
  bad: [...NOT_TEXT, ...CONTROL, '""', '"   "', '"*"', '"ci/*"', '"a[b]"', json('x'.repeat(101)), LONG],
};
const notification: FieldValues = {
  good: (random) =>
    pick(random, [
      'null',
      '{}',
      '{"email":"a@example.org"}',
      json({ matrix: { homeserver: 'https://matrix.org', room: '!a:matrix.org', token: 'x' } }),
      '{"unknown":"kept out","email":"a+b@x.example.org"}',
    ]),
  bad: [
    '"x"',
    '5',
    'true',
    '[]',
    '{"email":5}',
    '{"matrix":"!a:matrix.org"}',
    '{"matrix":{"homeserver":"https://matrix.org","room":"!a:matrix.org"}}',
    '{"email":"a@b@c.d"}',
    '{"email":"a@example.org\\r\\nBcc: b"}',
    '{"chat_a_webhook_url":"https://127.0.0.1/x"}',
    '{"chat_b_webhook_url":"http://chat.example.org/"}',
    json({ email: `${'a'.repeat(250)}@example.org` }),
  ],
};
const labels: FieldValues = {
  good: () => '["incident","Kind/Hot fix"]',
  bad: ['"x"', '[5]', '[""]', '[" x"]', 'null', json(Array(6).fill('x')), json(['x'.repeat(51)])],
};
const pause: Readonly<Record<string, FieldValues>> = {
  reason: {
    ...text((random) => pick(random, ['release 2.4', 'x', 'x'.repeat(60)])),
    bad: [...NOT_TEXT.filter((each) => each !== 'null'), ...CONTROL, '""', '" "', json('x'.repeat(61)), LONG],
  },
  until: { good: () => 'null', bad: ['5', 'true', '""', '"soon"', '[]'] },
};
const NEVER: FieldValues = { good: () => '', bad: ['"x"', 'true', 'null', '1'] };
const tier: FieldValues = { required: true, ...choice(['pro', 'team']) };

/** Bodies of the routes that take one. A field with an empty good value is only ever sent to be refused. */
export const BODY_FIELDS: Readonly<Record<string, Readonly<Record<string, FieldValues>>>> = {
  createConnection: {
    instance_url: instanceUrl,
    token,
    bot_login: login,
    forge_type: { ...choice(['forgejo']), bad: [...NOT_TEXT, '"gitlab"', '""'] },
  },
  updateConnection: {
    token: optional(token),
    bot_login: optional(login),
    instance_url: NEVER,
    forge_type: NEVER,
  },
  enrollRepo: {
    connection_id: {
      required: true,
      ...text((random, material) => pickRecent(random, material.connectionIds)),
      bad: ['null', 'true', '5', '[]', '{}'],
    },
    repo_slug: {
      required: true,
      ...text((random, material) => pick(random, material.slugs)),
      bad: [...NOT_TEXT, ...CONTROL, '""', '"a"', '"/"', '"a/"', '"/b"', '"a/b/c"', '"../b"', '"a/.."', LONG],
    },
    base_branch: {
      ...text((random) =>
        pick(random, ['main', 'release/1.x', 'b'.repeat(baseCharsMax(DEFAULT_SERVICE_NAME))]),
      ),
      bad: [
        ...NOT_TEXT,
        ...CONTROL,
        '""',
        '"-x"',
        '"a..b"',
        '"a b"',
        '"a~1"',
        json(stagingBranch(DEFAULT_SERVICE_NAME, 'main')),
        '"x.lock"',
        LONG,
      ],
    },
    status_context: context,
    merge_style: choice(['merge', 'squash', 'rebase']),
    automerge: flag,
    wakeup_mode: choice(['poll', 'webhook']),
    notification,
    token: NEVER,
    password: NEVER,
  },
  pauseRepo: pause,
  drainRepo: pause,
  enqueuePull: {
    head: {
      required: true,
      ...text(() => ANY_HEAD),
      bad: [...NOT_TEXT, ...CONTROL, '""', '"main"', json('A'.repeat(40)), json('a'.repeat(41))],
    },
  },
  setAuthorNotices: {
    instance_url: optional(instanceUrl),
    email: {
      required: true,
      ...text((random) => pick(random, ['a@example.org', 'a+b@x.example.org'])),
      bad: [...NOT_TEXT, ...CONTROL, '""', '"a@b@c.d"', '"a"', LONG],
    },
    topics: {
      required: true,
      good: (random) => json(pick(random, [[], ['landed'], ['bounced', 'refused', 'landed']])),
      bad: ['"landed"', '["stuck"]', '[5]', 'null', '["landed","landed"]', '{}'],
    },
  },
  createToken: {
    name: {
      required: true,
      ...text((random) => pick(random, ['ci', 'a b', 'x'.repeat(60)])),
      bad: [...NOT_TEXT, ...CONTROL, '""', '" "', json('x'.repeat(61)), LONG],
    },
    expires_in_days: { required: true, ...whole(1, 365) },
    scopes: {
      required: true,
      good: (random, material) =>
        json(
          pick(random, [
            [{ scope: 'read', repo_ids: null }],
            [{ scope: 'settings:write', repo_ids: null }],
            [
              { scope: 'read', repo_ids: [pickRecent(random, material.repoIds)] },
              { scope: 'queue:write', repo_ids: [pickRecent(random, material.repoIds)] },
            ],
            [
              { scope: 'queue:write', repo_ids: null, extra: 1 },
              { scope: 'settings:write', repo_ids: [makeUuid(random)] },
            ],
          ]),
        ),
      bad: [
        ...NOT_TEXT,
        '"read"',
        '["read"]',
        '[{"scope":"admin","repo_ids":null}]',
        '[{"scope":"read"}]',
        '[{"scope":"read","repo_ids":[]}]',
        '[{"scope":"read","repo_ids":["x"]}]',
      ],
    },
  },
  updateRepo: {
    wakeup_mode: choice(['poll', 'webhook']),
    queue_enabled: { ...flag, good: (random) => String(random.chance(0.8)) },
    batch_linger_seconds: whole(0, 86_400),
    batch_target: whole(0, 100),
    bisect_fanout: wholeOrAuto(1, 16),
    auto_runs_per_100_landed: whole(20, 1_000),
    gate_timeout_minutes: wholeOrNull(0, 1_440),
    reuse_ci: flag,
    repair_setup: flag,
    backports: flag,
    settings_file: flag,
    gate: choice(['workflow', 'statuses']),
    gate_contexts: {
      good: () => '["ci/build","ci/*"]',
      bad: ['"ci"', '[5]', '[""]', 'null', json(Array(21).fill('x'))],
    },
    incident_labels: labels,
    freeze_exempt_labels: labels,
    notice_topics: {
      good: (random) => json(pick(random, [{}, { email: [] }, { slack: ['landed', 'drift'], extra: 1 }])),
      bad: ['null', '5', '"bounced"', '{"email":"bounced"}', '{"email":["all"]}', '{"slack":null}'],
    },
    freeze_time_zone: {
      ...text((random) => pick(random, ['Europe/Berlin', 'UTC', 'America/New_York'])),
      bad: [...NOT_TEXT, '""', '"+01:00"', LONG],
    },
    freeze_windows: {
      good: (random) =>
        json(
          pick(random, [
            [],
            [{ reason: 'night', from: '22:00', to: '06:00' }],
            [{ reason: 'x', days: ['sat', 'sun'], first: '2026-12-24', last: '2027-01-03', extra: 1 }],
          ]),
        ),
      bad: [
        'null',
        '5',
        '[5]',
        '[{}]',
        '[{"reason":""}]',
        '[{"reason":"x","days":[]}]',
        '[{"reason":"x","from":"24:00"}]',
        '[{"reason":"x","first":"tomorrow"}]',
        json(Array(13).fill({ reason: 'x', days: ['sat'] })),
      ],
    },
    high_labels: labels,
    low_labels: labels,
    priority_people: {
      good: () => '["oncall"]',
      bad: ['"ci"', '[5]', '[""]', 'null', json(Array(21).fill('x'))],
    },
    schedule_people: {
      good: () => '["lead"]',
      bad: ['"ci"', '[5]', '[""]', 'null', json(Array(51).fill('x'))],
    },
    schedule_teams: {
      good: () => '["release"]',
      bad: ['"ci"', '[5]', '[""]', 'null', json(Array(11).fill('x'))],
    },
    schedule_own: flag,
    bots: {
      good: () => '["renovate"]',
      bad: ['"ci"', '[5]', '[""]', 'null', json(Array(21).fill('x'))],
    },
    bot_approval: flag,
    author_queued_max: whole(0, 1_000),
    bot_queued_max: whole(0, 1_000),
    head_attempts_max: whole(0, 100),
    gate_authors: {
      good: () => '["ci-bot"]',
      bad: ['"ci"', '[5]', '[""]', 'null', json(Array(6).fill('x'))],
    },
    status_context: context,
    notification,
    base_branch: NEVER,
    merge_style: NEVER,
    repo_slug: NEVER,
  },
  setNoticeWebhook: {
    url: {
      required: true,
      ...text((random) => pick(random, ['https://hooks.example.org', 'https://a.example.org/b?c=d'])),
      bad: [...NOT_TEXT, '""', '"http://a.example.org"', '"https://127.0.0.1/x"', LONG],
    },
  },
  protectRepo: { enabled: { required: true, ...flag } },
  startCheckout: { tier },
  changePlan: { tier },
  offboardTenant: {
    confirm: {
      required: true,
      // Seldom the right one: nothing is left of a tenant after it.
      ...text((random, material) =>
        random.chance(0.02) ? pick(random, material.tenantIds) : 'no-such-tenant',
      ),
      bad: [...NOT_TEXT, '""', LONG],
    },
  },
};

/** Values that have broken parsers before, for any field. What a route makes of them is not foretold. */
export const JUNK: readonly string[] = [
  'null',
  'true',
  'false',
  '0',
  '-1',
  '1',
  '1.5',
  '1e400',
  '-0',
  '16',
  '17',
  '""',
  '"x"',
  '[]',
  '{}',
  '[[]]',
  '{"a":1}',
  '"\\ud800"',
  '"\\udc00\\ud800"',
  '"\\u0000"',
  '"\u202e"',
  '"<script>"',
  '"3"',
  '{"__proto__":{"x":1}}',
  '{"constructor":{"prototype":{"x":1}}}',
  '"https://127.0.0.1"',
  '"a/b"',
  json(`${stagingPrefix(DEFAULT_SERVICE_NAME)}x`),
  '9007199254740993',
  '123456789012345678901234567890',
  '1e-400',
  '"%00"',
  '"{{7*7}}"',
  '"\\\\"',
  json('x'.repeat(300)),
  json('\u00e9'.repeat(100)),
  json('\u{1f4a9}'.repeat(50)),
  `${'['.repeat(2_000)}${']'.repeat(2_000)}`,
  `${'{"a":'.repeat(2_000)}1${'}'.repeat(2_000)}`,
];

/** Whole bodies. `refused`: no object, or none that can be read. */
export const BROKEN_BODIES: readonly string[] = [
  '{',
  '[]',
  'null',
  '"x"',
  '1',
  'true',
  '{"a":1}x',
  '{a:1}',
  "{'a':1}",
  '{"a":01}',
  '{"a":1,}',
  '\u0000',
  'NaN',
  `{"a":"${'x'.repeat(70_000)}"}`,
  `[${'1,'.repeat(40_000)}1]`,
];
export const ODD_BODIES: readonly string[] = [
  '{}',
  '{"a":1,"a":2}',
  '{"__proto__":{"polluted":1}}',
  '{"constructor":{"prototype":{"polluted":1}}}',
  '\ufeff{}',
  `${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}`,
  `{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}`,
  `{${Array.from({ length: 4_000 }, (_, index) => `"k${index}":1`).join(',')}}`,
];

export const MALFORMED_IDS: readonly string[] = [
  'x',
  '0',
  '..%2f..',
  '%00',
  '%F0%9F%92%A9',
  'a'.repeat(2_100),
  'null',
  '__proto__',
  "'or'1",
  '%22',
  '%zz',
  '%',
  '%25',
  '%0d%0aX:y',
  '*',
  '00000000-0000-0000-0000-00000000000g',
  '%E0%A4%A',
  '-1',
  '%7B%22S%22%3A1%7D',
];

export function pick<T>(random: SeededRandom, choices: readonly T[]): T {
  const chosen = choices[random.int(choices.length)];
  if (chosen === undefined) throw new RangeError('nothing to choose from');
  return chosen;
}

/** Mostly one of the newest: older ones were deleted by now. */
export function pickRecent(random: SeededRandom, ids: readonly string[]): string {
  if (ids.length === 0) return makeUuid(random);
  return pick(random, random.chance(0.8) ? ids.slice(-4) : ids);
}

export function makeUuid(random: SeededRandom): string {
  const hex = Array.from({ length: 32 }, () => random.int(16).toString(16)).join('');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
}
