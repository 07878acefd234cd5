import { createForgePersonOpener } from '#core/adapters/forge-http/person.ts';
import { Secret } from '#core/secret.ts';
import { type ScriptedAnswer, scriptForge, sha } from '../../../../support/scripted-forge.ts';

const page = (status: number): ScriptedAnswer => ({ status, text: '<html></html>', type: 'text/html' });
const refused = (status: number): ScriptedAnswer => ({ status, json: { message: '', url: 'x' } });

function open(answer: ScriptedAnswer) {
  const { send, seen } = scriptForge(() => answer);
  const person = createForgePersonOpener({ send, clock: { now: () => 0 } })(
    { instanceUrl: 'https://forge.test', slug: 'acme/app' },
    new Secret('t'),
  );
  return { seen, account: () => person.readAccount(), schedule: () => person.schedule(7, 'squash', sha(1)) };
}

describe('a schedule by a person', () => {
  test.each([
    ['made', { status: 201 }, 'scheduled'],
    ['carried out at once', { status: 200 }, 'scheduled'],
    ['there before', refused(409), 'already'],
    ['refused', refused(405), 'refused'],
    ['refused for an open dependency', refused(500), 'refused'],
  ])('that is %s', async (_name, answer, expected) => {
    const { schedule, seen } = open(answer);
    expect(await schedule()).toBe(expected);
    expect(seen).toMatchObject([{ method: 'POST', path: '/pulls/7/merge' }]);
  });

  test.each([200, 201])('of which a page tells with %i is not told as made', async (status) => {
    await expect(open(page(status)).schedule()).rejects.toMatchObject({
      kind: 'unreachable',
      effectUnknown: true,
    });
  });

  test.each([401, 403, 404, 405, 409, 500])('that a page answers with %i is not refused', async (status) => {
    await expect(open(page(status)).schedule()).rejects.toMatchObject({ kind: 'unreachable' });
  });
});

// Answers of Gitea 1.27 and Forgejo 15 to the token of a job, and to that of a person.
test.each([
  [{ id: -2, login: 'gitea-actions' }, true],
  [{ id: -2, login: 'forgejo-actions' }, true],
  [{ id: 4, login: 'forgejo-actions' }, false],
  [{ login: 'dev' }, false],
])('a token of %j is that of a job: %s', async (json, isJob) => {
  expect(await open({ json }).account()).toEqual({ login: json.login, isJob });
});
