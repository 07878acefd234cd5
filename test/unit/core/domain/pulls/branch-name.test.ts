import { isBranchName } from '#core/domain/pulls/backport.ts';

test.each([
  'v15',
  'release/1.x',
  'release/ü',
  'v1.0@lts',
  '@x',
  'a@',
  'a#b',
  '15%',
  '+x',
  '版本',
  'a/-b',
  'HEAD/a',
])('git may have a branch of the name %s', (name) => {
  expect(isBranchName(name)).toBe(true);
});

test.each([
  '',
  '@',
  'HEAD',
  '-a',
  '/a',
  'a/',
  'a.',
  '.a',
  'a/.b',
  'a..b',
  'a//b',
  'a.lock',
  'a.lock/b',
  'a@{1}',
  'a b',
  'a\u0000',
  'a\u007f',
  'a~1',
  'a^',
  'a:b',
  'a?',
  'a*',
  'a[b',
  'a\\b',
  '..',
  '../../x',
  'a\ud800',
  'a'.repeat(201),
])('git has no branch of the name %j that the forge could be asked for', (name) => {
  expect(isBranchName(name)).toBe(false);
});
