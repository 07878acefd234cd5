import {
  readGlanceAnswer,
  readGlanceRequest,
  readLookRequest,
  writeGlanceRequest,
  writeLookRequest,
} from '#core/contracts/internal/idle-look.ts';
import { Secret } from '#core/secret.ts';

const REQUEST = {
  instanceUrl: 'https://forge.example',
  repoSlug: 'acme/app',
  baseBranch: 'main',
  token: new Secret('canary-token-9'),
};
const SENT = JSON.parse(writeGlanceRequest(REQUEST));

describe('a glance on its way to the function of idle looks', () => {
  test('is read as it was sent, and is no idle look', () => {
    expect(readGlanceRequest(SENT)).toEqual(REQUEST);
    expect(readGlanceRequest(SENT)?.token.reveal()).toBe('canary-token-9');
    expect(readLookRequest(SENT)).toBeNull();
  });

  test.each<[string, object]>([
    ['a forge without encryption', { instance_url: 'http://forge.example' }],
    ['a repository that is a path', { repo_slug: '../../admin' }],
    ['no branch', { glance_at: '' }],
    ['no token', { token: '' }],
    ['a field too many', { more: 1 }],
  ])('with %s is refused', (_case, changes) => {
    expect(readGlanceRequest({ ...SENT, ...changes })).toBeNull();
  });

  test.each<[unknown, boolean]>([
    [{ kind: 'failed' }, true],
    [{ kind: 'seen', tip: 'a', newest: null }, true],
    [{ kind: 'seen', tip: null, newest: { pr: 1, head: 'h', updatedAt: 5 } }, true],
    [{ kind: 'seen', tip: 'a' }, false],
    [{ kind: 'seen', tip: 'a', newest: { pr: 1.5, head: 'h', updatedAt: 5 } }, false],
    [{ kind: 'idle', memory: {} }, false],
    [null, false],
  ])('the answer %j is taken: %s', (answer, isTaken) => {
    expect(readGlanceAnswer(answer)).toEqual(isTaken ? answer : null);
  });
});

test.each([7, null])(
  'an idle look is sent with the id %j that the queue knows its repository by',
  (repoId) => {
    const request = { ...REQUEST, statusContext: 'mq', repoId, setUp: null, memory: null };
    const sent = JSON.parse(writeLookRequest(request));
    expect(readLookRequest(sent)).toEqual(request);
    expect(readLookRequest({ ...sent, repo_id: 1.5 })).toBeNull();
  },
);
