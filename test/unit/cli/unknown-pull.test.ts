import { call, named } from './call-program.ts';

describe('a pull request that the queue does not know', () => {
  const path = 'repos/r/pulls/7';
  const unknown = () =>
    Response.json(
      { error: { code: 'not_found', message: 'This does not exist, or it belongs to another account.' } },
      { status: 404 },
    );
  const landed = {
    number: 7,
    title: 'a',
    place: null,
    estimate: null,
    now: { kind: 'exit', code: 'landed', fault: null, turn: null, words: 'landed', next: null },
  };

  test('a landing is told without a turn, because nothing is left to do; else the party is named', async () => {
    const told = async (now: object) => {
      const story = { ...landed, now: { ...landed.now, ...now } };
      return (await call(['why', '7', ...named], { [path]: () => story })).out;
    };
    expect(await told({ turn: 'none' })).toEqual(['#7 a', 'landed']);
    const paused = { kind: 'wait', code: 'paused', turn: 'operator', words: 'paused' };
    expect(await told(paused)).toEqual(['#7 a', 'paused', 'turn: a maintainer of the repository']);
  });

  test('wait lets the queue look first, because one that was scheduled just now is not known yet', async () => {
    let asked = 0;
    const answers = { [path]: () => (++asked < 3 ? unknown() : landed) };
    const { code, out } = await call(['wait', '7', ...named], answers);
    expect([code, out[0], asked]).toEqual([0, '#7 a', 3]);
  });

  test('wait is refused once the queue must have looked, and at once when it knew the number before', async () => {
    const never = await call(['wait', '7', ...named], { [path]: unknown });
    expect([never.code, never.complaint]).toEqual([69, expect.stringMatching(/^not_found: /)]);
    const looks = [{ ...landed, now: { ...landed.now, kind: 'wait', code: 'queued' } }];
    const gone = { [path]: () => looks.pop() ?? unknown() };
    expect((await call(['wait', '7', ...named], gone)).code).toBe(69);
  });

  test('wait says at the end of a shorter time what is not known', async () => {
    const { code, out } = await call(['wait', '7', '--timeout', '5s', ...named], { [path]: unknown });
    expect([code, out]).toEqual([
      3,
      ['The service did not answer, or the queue has not looked at this pull request yet.'],
    ]);
  });

  test('why names the queue, and says what to do', async () => {
    const { code, complaint } = await call(['why', '7', ...named], { [path]: unknown });
    expect([code, complaint]).toEqual([
      69,
      'not_found: The queue of acme/app main knows no pull request #7. If it was scheduled just now, ask again in a minute; else schedule it first.',
    ]);
    const json = (await call(['why', '7', '--json', ...named], { [path]: unknown })).complaint;
    expect(JSON.parse(json).error).toEqual({
      code: 'not_found',
      message: 'The queue of acme/app main knows no pull request #7.',
      next: 'If it was scheduled just now, ask again in a minute; else schedule it first.',
    });
  });
});

describe('a landing that the queue does not know', () => {
  const unknown = () =>
    Response.json({ error: { code: 'not_found', message: 'This does not exist.' } }, { status: 404 });

  test.each(['evidence', 'verify'])(
    '%s names the queue and the commit, and says what to do',
    async (command) => {
      const { code, complaint } = await call([command, 'HEAD', ...named], { 'repos/r/evidence': unknown });
      expect([code, complaint]).toEqual([
        69,
        `not_found: The queue of acme/app main knows no landing that made the commit ${'a'.repeat(40)}. Name the commit that the forge made of the pull request on the base branch. One that came past the queue has no statement, and one of long ago may be behind what the service looks through.`,
      ]);
    },
  );
});
