import { createForgeReader } from '#core/adapters/forge-http/reader.ts';
import {
  answerBytesMax,
  answerValuesMax,
  isBoundedJson,
} from '#core/adapters/forge-http/wire/answer-limits.ts';
import type { ForgeReader } from '#core/ports/forge.ts';
import { openScripted } from '../../../../support/open-scripted.ts';
import type { ScriptedAnswer, SeenRequest } from '../../../../support/scripted-forge.ts';

const MISSING: ScriptedAnswer = { status: 404, json: { message: 'no', errors: null, url: 'x' } };
const DENIED: ScriptedAnswer = { status: 403, json: { message: 'no' } };

function open(respond: (request: SeenRequest) => ScriptedAnswer): {
  readonly forge: ForgeReader;
  readonly seen: readonly SeenRequest[];
} {
  const { transport, seen } = openScripted(respond);
  return { forge: createForgeReader(transport), seen };
}

const pathsOf = (seen: readonly SeenRequest[]): readonly string[] => seen.map(({ path }) => path);

describe('the repository of a person', () => {
  const assignees = { json: [{ login: 'Acme' }, { login: 'Dev' }, { login: 'ops' }] };
  const answer = (permission: ScriptedAnswer) => (request: SeenRequest) =>
    request.path === '/assignees' ? assignees : permission;

  test('an account that can be given work may, and the list is read once', async () => {
    const { forge, seen } = open(answer(MISSING));
    expect([await forge.readWriteRight('dev'), await forge.readWriteRight('OPS')]).toEqual(['yes', 'yes']);
    expect(pathsOf(seen)).toEqual(['/assignees']);
  });

  test.each([
    ['an administrator of the site', { json: { permission: 'owner' } }, 'yes'],
    ['one who may read', { json: { permission: 'read' } }, 'no'],
    ['one who may nothing', { json: { permission: 'none' } }, 'no'],
    ['one whom a bot without administration cannot ask about', DENIED, 'unlisted'],
    ['one who is gone', MISSING, 'no'],
  ] as const)('%s, who is not in that list', async (_name, permission, right) => {
    const { forge, seen } = open(answer(permission));
    expect(await forge.readWriteRight('guest')).toBe(right);
    expect(pathsOf(seen)).toEqual(['/assignees', '/collaborators/guest/permission']);
  });

  test.each(['', 'Ghost'])(
    'an account that is gone, shown as %j, may not, and is not asked about',
    async (login) => {
      const { forge, seen } = open(answer(DENIED));
      expect(await forge.readWriteRight(login)).toBe('no');
      expect(seen).toEqual([]);
    },
  );

  test('an answer of a proxy is no verdict', async () => {
    const page = { status: 403, text: '<html>', type: 'text/html' } as const;
    const unreachable = { kind: 'unreachable' };
    await expect(open(answer(page)).forge.readWriteRight('guest')).rejects.toMatchObject(unreachable);
    await expect(open(() => page).forge.readWriteRight('guest')).rejects.toMatchObject(unreachable);
  });

  test('whose owner the list does not have is told by the missing teams', async () => {
    const { forge, seen } = open(({ path }) =>
      path === '/teams' ? { status: 405, json: { message: 'no' } } : { json: [{ login: 'dev' }] },
    );
    expect(await forge.readWriteRight('dev')).toBe('yes');
    expect(pathsOf(seen)).toEqual(['/assignees', '/teams']);
  });
});

describe('the repository of an organization', () => {
  const OWNERS = { id: 1, name: 'Owners', permission: 'owner', units_map: { 'repo.code': 'owner' } };
  const CODERS = { id: 2, name: 'coders', permission: 'none', units_map: { 'repo.code': 'write' } };
  const READERS = { id: 3, name: 'readers', permission: 'none', units_map: { 'repo.code': 'read' } };
  const TRIAGE = { id: 4, name: 'triage', permission: 'write', units_map: { 'repo.issues': 'write' } };
  const membersOf = (id: number): string => `/teams/${id}/members`;
  const mode = (permission: string): ScriptedAnswer => ({ json: { permission } });

  interface Given {
    readonly teams: readonly object[];
    readonly permission?: ScriptedAnswer;
    /** By team; absent: hidden. */
    readonly members?: Readonly<Record<number, readonly string[]>>;
  }

  function openOrg({ teams, permission = DENIED, members = {} }: Given) {
    return open(({ path }) => {
      if (path === '/assignees') return { json: [{ login: 'dev' }] };
      if (path === '/teams') return { json: teams };
      const team = /^\/teams\/(\d+)\/members$/.exec(path)?.[1];
      if (team === undefined) return permission;
      const logins = members[Number(team)];
      return logins === undefined
        ? DENIED
        : { json: logins.map((login) => ({ login })), headers: { 'x-total-count': String(logins.length) } };
    });
  }

  test('where every team writes code the list says it all, for one call more', async () => {
    const { forge, seen } = openOrg({ teams: [OWNERS, CODERS] });
    expect([await forge.readWriteRight('dev'), await forge.readWriteRight('DEV')]).toEqual(['yes', 'yes']);
    expect(pathsOf(seen)).toEqual(['/assignees', '/teams']);
  });

  test.each([
    ['a reader by a team is no writer, though the list has it', [OWNERS, READERS], mode('read'), {}, 'no'],
    ['one who is in no team that writes code', [CODERS, READERS], mode('none'), { 2: ['ann'] }, 'no'],
    ['one who is in a team that writes code', [CODERS, READERS], mode('none'), { 2: ['ann', 'Dev'] }, 'yes'],
    ['one whose team is hidden', [CODERS, READERS], mode('none'), {}, 'listed'],
    ['one who was added as a writer', [CODERS, READERS], mode('write'), {}, 'yes'],
    ['one who writes issues and nothing else', [OWNERS, TRIAGE], mode('write'), {}, 'listed'],
    ['an owner of the organization', [OWNERS, READERS], mode('owner'), {}, 'yes'],
    ['one who is gone', [OWNERS, READERS], MISSING, {}, 'no'],
    ['one whom a bot without administration asks about', [OWNERS, READERS], DENIED, {}, 'listed'],
    ['one in a team that such a bot sees', [CODERS, READERS], DENIED, { 2: ['dev'] }, 'yes'],
    ['one in no team that such a bot sees', [CODERS, READERS], DENIED, { 2: [] }, 'listed'],
  ] as const)('%s', async (_name, teams, permission, members, right) => {
    const { forge } = openOrg({ teams, permission, members });
    expect(await forge.readWriteRight('dev')).toBe(right);
  });

  test.each([
    ['that an administrator is told of', mode('none'), { 2: [] }, 'no'],
    ['in a team that writes code alone, which is in no list', mode('none'), { 2: ['guest'] }, 'yes'],
    ['that the forge tells nothing of', DENIED, {}, 'unlisted'],
  ] as const)('an account outside of the list %s', async (_name, permission, members, right) => {
    const { forge } = openOrg({ teams: [CODERS, READERS], permission, members });
    expect(await forge.readWriteRight('guest')).toBe(right);
  });

  test('the members of a team are read once, for those that the settings name as well', async () => {
    const { forge, seen } = openOrg({
      teams: [CODERS, READERS],
      permission: mode('none'),
      members: { 2: ['dev'] },
    });
    expect([await forge.readWriteRight('dev'), await forge.readWriteRight('ann')]).toEqual(['yes', 'no']);
    expect(await forge.listTeamMembers('CODERS')).toEqual(['dev']);
    expect(pathsOf(seen).filter((path) => path === membersOf(2))).toHaveLength(2);
    expect(pathsOf(seen).filter((path) => path === '/teams')).toHaveLength(1);
  });
});

test('the list of twenty thousand accounts is an answer: the forge gives it without pages', async () => {
  const account = {
    id: 123_456,
    login: 'an-account-with-a-name',
    login_name: '',
    source_id: 0,
    full_name: 'An Account With A Name',
    email: 'an-account@noreply.forge.example',
    avatar_url: `https://forge.example/avatars/${'a'.repeat(64)}`,
    html_url: 'https://forge.example/an-account-with-a-name',
    language: '',
    is_admin: false,
    last_login: '0001-01-01T00:00:00Z',
    created: '2026-11-26T15:16:37Z',
    restricted: false,
    active: true,
    prohibit_login: false,
    location: '',
    website: '',
    description: '',
    visibility: 'public',
    followers_count: 0,
    following_count: 0,
    starred_repos_count: 0,
    username: 'an-account-with-a-name',
  };
  const accounts = Array.from({ length: 20_000 }, () => account);
  const body = Buffer.from(JSON.stringify(accounts));
  expect(body.length).toBeGreaterThan(20_000 * 530);
  expect(body.length).toBeLessThan(answerBytesMax('GET assignees'));
  expect(isBoundedJson(body, answerValuesMax('GET assignees'))).toBe(true);
  expect(answerValuesMax('GET pulls')).toBeLessThan(answerValuesMax('GET assignees'));
  const { forge } = open(({ path }) =>
    path === '/teams' ? { status: 405, json: { message: 'no' } } : { json: accounts },
  );
  expect(await forge.readWriteRight(account.login)).toBe('yes');
});
