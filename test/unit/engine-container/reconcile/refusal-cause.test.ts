import { ForgeError, type ForgeErrorKind } from '#core/ports/forge.ts';
import {
  readRefusal,
  waitsForTick,
  withArchive,
} from '../../../../engine-container/src/reconcile/refusal-cause.ts';

test.each<[string, ForgeErrorKind, number | null, string, boolean, string | undefined]>([
  ['a write to an archived repository', 'archived', 423, 'POST branches', true, 'archived'],
  ['a former name, of Gitea and Forgejo 15', 'denied', 301, 'GET pulls', false, 'moved'],
  ['a former name, of Forgejo 11', 'denied', 307, 'GET pulls', false, 'moved'],
  ['an unknown token', 'denied', 401, 'GET pulls', false, 'token_unknown'],
  ['a write beyond a quota', 'denied', 413, 'POST diffpatch', true, 'over_quota'],
  ['a missing right', 'denied', 403, 'GET pulls', false, undefined],
  ['a missing right to Actions', 'denied', 403, 'GET actions/runs', true, 'actions_hidden'],
  ['no list beside a base', 'missing', 404, 'GET pulls', true, 'pulls_hidden'],
  ['neither list nor base', 'missing', 404, 'GET pulls', false, 'not_shown'],
  ['something else that is gone', 'missing', 404, 'GET git/commits/{sha}', false, undefined],
  ['no answer', 'unreachable', null, 'GET pulls', false, undefined],
])('%s', (_case, kind, status, call, isRepoSeen, refusal) => {
  expect(readRefusal(new ForgeError(kind, call, status), isRepoSeen)).toEqual(
    refusal === undefined ? {} : { refusal },
  );
});

test('an account that is locked is told as such, whichever call met it', () => {
  const error = new ForgeError('denied', 'POST statuses/{sha}', 403, null, true, [], true);
  expect(readRefusal(error, true)).toEqual({ refusal: 'bot_locked' });
});

test('scopes that the forge names are told beside it', () => {
  const error = new ForgeError('denied', 'GET pulls', 403, null, false, ['read:issue']);
  expect(readRefusal(error, false)).toEqual({ missingScopes: ['read:issue'] });
});

test('an archive that is remembered says nothing against what this look was told', () => {
  const archive = { archivedSince: 1 };
  expect(withArchive({}, archive)).toEqual({ refusal: 'archived' });
  expect(withArchive({ refusal: 'token_unknown' }, archive)).toEqual({ refusal: 'token_unknown' });
  expect(withArchive({ missingScopes: ['read:issue'] }, archive)).toEqual({ missingScopes: ['read:issue'] });
  expect(withArchive({}, {})).toEqual({});
});

test.each([
  ['a base that is gone', 'base_missing', {}, true],
  ['an archive', 'forge_access_denied', { archivedSince: 1 }, true],
  [
    'staging that is refused again and again',
    'forge_access_denied',
    { stagingRefused: { since: 0, at: 60_000 } },
    true,
  ],
  ['staging that was refused once', 'forge_access_denied', { stagingRefused: { since: 0, at: 0 } }, false],
  ['a token that is refused', 'forge_access_denied', {}, false],
  [
    'a rule over the branches of an empty queue',
    'protection_conflict',
    { ruledBranch: 'mq/main/staging' },
    true,
  ],
  ['a rule of the base', 'protection_conflict', {}, false],
  ['a forge that is away', 'forge_unreachable', { archivedSince: 1 }, false],
] as const)('%s is left to the tick: %s, %j', (_case, code, held, isLeft) => {
  expect(waitsForTick(code, { entries: [], ...held })).toBe(isLeft);
});
