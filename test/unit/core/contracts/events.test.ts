import { formatWakeMessage, parseWakeMessage } from '#core/contracts/events.ts';

describe('wake message', () => {
  test('what is sent is what is read', () => {
    const wake = { repoId: 'repo-1', wakeSeq: 12 };
    expect(formatWakeMessage(wake)).toBe('{"repo_id":"repo-1","wake_seq":12}');
    expect(parseWakeMessage(formatWakeMessage(wake))).toEqual(wake);
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
    `{"repo_id":"${'r'.repeat(65)}","wake_seq":1}`,
  ])('%j is refused', (body) => {
    expect(parseWakeMessage(body)).toBeNull();
  });
});
