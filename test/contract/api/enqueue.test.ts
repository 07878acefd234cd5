import { givenObligations } from '../../builders/told-queue.ts';
import { ApiWorld, TENANT_A, TOKEN_A } from '../../support/api-world.ts';
import { givePerson } from '../../support/forge-person.ts';
import { BOT } from '../../support/scripted-accounts.ts';

/** A repository of tenant A, a pull request on its forge, and calls about it with the forge token of a person. */
async function given() {
  const world = new ApiWorld();
  const { repo } = await world.enroll(TENANT_A);
  const { forge, pr, head } = await givePerson(world, repo);
  const path = `/api/v1/user/repos/${repo.id}/pulls/${pr}/queue`;
  const call = (method: 'PUT' | 'DELETE', person: string | null, body?: unknown) =>
    world.call(method, path, {
      token: TOKEN_A,
      ...(body === undefined ? {} : { body }),
      headers: person === null ? {} : { 'x-forge-token': person },
    });
  return { world, forge, pr, head, call, repo };
}

const schedulers = ({ forge, pr }: Awaited<ReturnType<typeof given>>) =>
  forge.timelineOf(pr).flatMap((entry) => (entry.kind === 'scheduled' ? [entry.user] : []));

/** A success of the queue stands on its head. */
function tellLanding({ world, pr, head }: Awaited<ReturnType<typeof given>>) {
  const left = { context: 'mq', prs: [], heads: [{ pr, head }] };
  world.store.readObligations = async () => givenObligations({ open: true, successStands: true, left });
}

describe('PUT and DELETE …/pulls/{number}/queue', () => {
  test('the forge schedules for the person whose token was sent, and the queue is woken', async () => {
    const all = await given();
    const { world, forge, pr, head, call } = all;
    const answer = await call('PUT', 'developer', { head });
    expect([answer.status, answer.json]).toEqual([200, { number: pr, head, already: false }]);
    expect([forge.isScheduled(pr), schedulers(all)]).toEqual([true, ['developer']]);
    expect(world.sent.wakes.length).toBeGreaterThan(0);
  });

  test('asked again for the same head, it changes nothing and says so', async () => {
    const all = await given();
    const { pr, head, call } = all;
    await call('PUT', 'developer', { head });
    expect((await call('PUT', 'developer', { head })).json).toEqual({ number: pr, head, already: true });
    expect(schedulers(all)).toHaveLength(1);
  });

  test('another head than the one that was looked at is refused, and nothing is scheduled', async () => {
    const all = await given();
    const { forge, pr, head, call } = all;
    await forge.pushToPullRequest(pr, { 'one.txt': 'other' });
    const answer = await call('PUT', 'developer', { head });
    expect([answer.status, answer.code, forge.isScheduled(pr)]).toEqual([409, 'head_moved', false]);
    expect(schedulers(all)).toEqual([]);
  });

  test('a head that is pushed between the look and the schedule is not left scheduled', async () => {
    const { world, forge, pr, head, call } = await given();
    world.openPerson = () => {
      const person = forge.asPerson('developer');
      return {
        ...person,
        schedule: async (...asked) => {
          const made = await person.schedule(...asked);
          await forge.pushToPullRequest(pr, { 'one.txt': 'pushed meanwhile' });
          return made;
        },
      };
    };
    const answer = await call('PUT', 'developer', { head });
    expect([answer.code, forge.isScheduled(pr)]).toEqual(['head_moved', false]);
  });

  test.each([
    [2, 200],
    [3, 200],
    [4, 409],
  ])(
    'a forge that refuses %d times while it checks for conflicts is asked again: %d',
    async (refusals, status) => {
      const { world, forge, pr, head, call } = await given();
      const person = forge.asPerson('developer');
      let left: number = refusals;
      world.openPerson = () => ({
        ...person,
        readPull: async (number) => ({ ...(await person.readPull(number)), mergeable: left < 0 }),
        schedule: async (...asked) => {
          left -= 1;
          return left < 0 ? person.schedule(...asked) : 'refused';
        },
      });
      const answer = await call('PUT', 'developer', { head });
      expect([answer.status, forge.isScheduled(pr)]).toEqual([status, status === 200]);
    },
  );

  test.each([
    ['it was merged', { state: 'closed', merged: true }, 'pull_merged'],
    ['it was closed', { state: 'closed' }, 'pull_not_open'],
    ['nothing changed', {}, 'schedule_refused'],
  ] as const)('a schedule that the forge refuses is told by what is so then: %s', async (_, now, code) => {
    const { world, forge, pr, head, call } = await given();
    const person = forge.asPerson('developer');
    const seen = await person.readPull(pr);
    let isRefused = false;
    world.openPerson = () => ({
      ...person,
      readPull: () => Promise.resolve(isRefused ? { ...seen, ...now } : seen),
      schedule: () => {
        isRefused = true;
        return Promise.resolve('refused');
      },
    });
    expect((await call('PUT', 'developer', { head })).code).toBe(code);
  });

  test('a merge that another schedule has begun is told as one, although the first look did not show it', async () => {
    const { world, forge, pr, head, call } = await given();
    const person = forge.asPerson('developer');
    const seen = await person.readPull(pr);
    let asked = 0;
    world.openPerson = () => ({
      ...person,
      readPull: () => Promise.resolve(asked < 2 ? seen : { ...seen, state: 'closed', merged: true }),
      schedule: () => {
        asked += 1;
        return Promise.resolve('refused');
      },
    });
    expect((await call('PUT', 'developer', { head })).code).toBe('pull_merged');
  });

  test('the right is the person’s alone: a reader, the bot, a job and no token schedule nothing', async () => {
    const all = await given();
    const { forge, pr, head, call } = all;
    const codes = [];
    for (const person of ['mere-reader', BOT, 'forgejo-actions', 'expired-token', null]) {
      codes.push((await call('PUT', person, { head })).code);
    }
    expect(codes).toEqual([
      'schedule_refused',
      'forge_token_of_bot',
      'forge_token_of_job',
      'forge_token_refused',
      'forge_token_required',
    ]);
    expect([forge.isScheduled(pr), schedulers(all)]).toEqual([false, []]);
  });

  test('without a rule that asks for the status of the queue the forge would merge at once: refused', async () => {
    const { forge, pr, head, call } = await given();
    await forge.removeProtection();
    expect((await call('PUT', 'developer', { head })).code).toBe('branch_not_protected');
    expect([forge.isScheduled(pr), forge.isMerged(pr)]).toEqual([false, false]);
  });

  test('a queue that is off, a closed pull request and one of another branch are refused', async () => {
    const off = await given();
    await off.world.as(TOKEN_A)('PATCH', `/api/v1/user/repos/${off.repo.id}`, { queue_enabled: false });
    expect((await off.call('PUT', 'developer', { head: off.head })).code).toBe('queue_not_ready');
    const closed = await given();
    await closed.forge.close(closed.pr);
    expect((await closed.call('PUT', 'developer', { head: closed.head })).code).toBe('pull_not_open');
  });

  test('DELETE takes the schedule back, once or twice; a reader cannot take back what another made', async () => {
    const { forge, pr, head, call } = await given();
    await call('PUT', 'developer', { head });
    const refused = await call('DELETE', 'mere-reader');
    expect(refused.code).toBe('forge_token_refused');
    // One code for 401 and 403, so the words may not name one of the two alone.
    expect(refused.json.error.message).toMatch(/not known there, or lacks the scope/);
    expect(forge.isScheduled(pr)).toBe(true);
    expect([(await call('DELETE', 'developer')).status, forge.isScheduled(pr)]).toEqual([204, false]);
    expect((await call('DELETE', 'developer')).status).toBe(204);
  });

  test('DELETE on what is merged says that it has landed, notes nothing and wakes nothing', async () => {
    const { world, forge, pr, head, call } = await given();
    await forge.mergeByHand(pr);
    const answer = await call('DELETE', 'developer');
    expect([answer.status, answer.code]).toEqual([409, 'pull_merged']);
    expect((await call('PUT', 'developer', { head })).code).toBe('pull_merged');
    expect(world.sent.wakes).toEqual([]);
    const exported = await world.as(TOKEN_A)('GET', '/api/v1/tenant/export');
    expect(exported.json.audit_log.map(({ action }: { action: string }) => action)).not.toContain(
      'pull.dequeue',
    );
  });

  test('DELETE while the forge carries out its merge waits what comes of it, and says that it has landed', async () => {
    const all = await given();
    const { world, forge, pr, head, call } = all;
    await call('PUT', 'developer', { head });
    tellLanding(all);
    let reads = 0;
    world.openPerson = () => {
      const person = forge.asPerson('developer');
      return {
        ...person,
        readPull: async (asked) => {
          reads += 1;
          if (reads === 2) await forge.mergeByHand(pr);
          return person.readPull(asked);
        },
      };
    };
    expect((await call('DELETE', 'developer')).code).toBe('pull_merged');
    expect(reads).toBe(2);
  });

  test('DELETE waits as well where the success was posted between its own look and the cancelling', async () => {
    const all = await given();
    const { world, forge, pr, head, call } = all;
    await call('PUT', 'developer', { head });
    world.openPerson = () => {
      const person = forge.asPerson('developer');
      return {
        ...person,
        cancel: async (asked) => {
          tellLanding(all);
          const answer = await person.cancel(asked);
          await forge.mergeByHand(pr);
          return answer;
        },
      };
    };
    expect((await call('DELETE', 'developer')).code).toBe('pull_merged');
  });

  test('DELETE at a success that the forge does not carry out is taken after some seconds, and at once elsewhere', async () => {
    const all = await given();
    const { world, forge, pr, head, call } = all;
    await call('PUT', 'developer', { head });
    const before = world.clock.now();
    await call('DELETE', 'developer');
    expect(world.clock.now()).toBe(before);
    await call('PUT', 'developer', { head });
    tellLanding(all);
    expect([(await call('DELETE', 'developer')).status, forge.isScheduled(pr)]).toEqual([204, false]);
    expect(world.clock.now() - before).toBe(6_000);
  });

  test('each is noted with the pull request, and no answer, log, note or row has the forge token', async () => {
    const { world, head, call, repo, pr } = await given();
    await call('PUT', 'developer', { head });
    await call('DELETE', 'developer');
    await call('PUT', 'canary-of-a-person', { head });
    const exported = await world.as(TOKEN_A)('GET', '/api/v1/tenant/export');
    const notes = exported.json.audit_log.map(({ action, target }: { action: string; target: string }) => [
      action,
      target,
    ]);
    expect(notes).toContainEqual(['pull.enqueue', `${repo.id}#${pr}`]);
    expect(notes).toContainEqual(['pull.dequeue', `${repo.id}#${pr}`]);
    const kept = [world.store.dump(), world.lines.join('\n'), world.answers.join('\n')].join('\n');
    expect(kept).not.toMatch(/canary-of-a-person|developer/);
  });
});
