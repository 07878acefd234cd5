import { readMissingScopes } from '#core/adapters/forge-http/wire/missing-scopes.ts';

const refusal = (message: string) => ({ status: 403, value: { message } });

test('both forges name the scopes that a token lacks', () => {
  const forgejo = 'token does not have at least one of required scope(s): [write:issue]';
  const gitea =
    'token does not have at least one of required scope(s), required=[write:issue], token scope=read:user';
  for (const message of [forgejo, gitea])
    expect(readMissingScopes(refusal(message))).toEqual(['write:issue']);
});

test('a list of scopes that is not closed ends where the next one begins, so that none is read to the end of the text', () => {
  const message = `${'required scope(s): [read:user '.repeat(3)}required scope(s): [write:issue]`;
  expect(readMissingScopes(refusal(message))).toEqual(['write:issue']);
});
