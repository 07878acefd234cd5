import { isAccountLocked } from '#core/adapters/forge-http/wire/account-locked.ts';

test.each([
  ['This account is prohibited from signing in, please contact your site administrator.', true],
  ['You must change your password. Change it at: https://forge.example.org/user/change_password', true],
  ['This account is not activated.', true],
  [
    'This Forgejo instance requires users to enable two-factor authentication before they can access their accounts. Enable it at: https://forge.example.org/user/settings/security',
    true,
  ],
  ['token does not have at least one of required scope(s): [write:issue]', false],
  ['user should have a permission to write to a repo', false],
])('%s', (message, isLocked) => {
  expect(isAccountLocked({ status: 403, value: { message } })).toBe(isLocked);
  expect(isAccountLocked({ status: 404, value: { message } })).toBe(false);
});

test('an answer without words says nothing of the account', () => {
  expect(isAccountLocked({ status: 403, value: undefined })).toBe(false);
});
