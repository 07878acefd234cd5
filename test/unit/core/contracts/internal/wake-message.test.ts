import { formatWakeMessage, glanceOf, parseWakeMessage } from '#core/contracts/internal/wake-message.ts';

describe('wake message', () => {
  test('an event is read as it was sent', () => {
    const wake = { repoId: 'repo-1', wakeSeq: 12 };
    expect(formatWakeMessage(wake)).toBe('{"repo_id":"repo-1","wake_seq":12}');
    expect(parseWakeMessage(formatWakeMessage(wake))).toEqual(wake);
  });

  test('a glance is read as it was sent', () => {
    const glance = { repoId: 'repo-1', wakeSeq: 12, glance: 3 };
    expect(formatWakeMessage(glance)).toBe('{"repo_id":"repo-1","wake_seq":12,"glance":3}');
    expect(parseWakeMessage(formatWakeMessage(glance))).toEqual(glance);
    expect(glanceOf(glance)).toEqual({ repoId: 'repo-1', wakeSeq: 12, step: 3 });
    expect(glanceOf({ repoId: 'repo-1', wakeSeq: 12 })).toBeNull();
  });

  test.each([
    '',
    'null',
    '[]',
    '{"repo_id":"r"}',
    '{"repo_id":"","wake_seq":1}',
    '{"repo_id":1,"wake_seq":1}',
    '{"repo_id":"r","wake_seq":"1"}',
    '{"repo_id":"r","wake_seq":1.5}',
    '{"repo_id":"r","wake_seq":-1}',
    '{"repo_id":"r","wake_seq":1,"prs":[1]}',
    '{"repo_id":"r","wake_seq":1,"glance":0}',
    '{"repo_id":"r","wake_seq":1,"glance":1001}',
    '{"repo_id":"r","wake_seq":1,"glance":1.5}',
    '{"repo_id":"r","wake_seq":1,"glance":true}',
    `{"repo_id":"${'r'.repeat(65)}","wake_seq":1}`,
  ])('%j is refused', (body) => {
    expect(parseWakeMessage(body)).toBeNull();
  });
});
