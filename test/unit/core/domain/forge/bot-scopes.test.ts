import { readFileSync } from 'node:fs';
import { BOT_SCOPES } from '#core/domain/forge/token-scopes.ts';

const SCOPE = /\b(?:read|write):(?:repository|issue|user|organization)\b/g;
const needed = BOT_SCOPES.map(({ scope }) => scope);

describe("the scopes of the bot's token", () => {
  test.each(['README.md', 'docs/onebox.md', 'docs/forges.md'])('are the same in %s', (file) => {
    expect([...new Set(readFileSync(file, 'utf8').match(SCOPE))].sort()).toEqual([...needed].sort());
  });

  test('stand on the page by the table alone', () => {
    const page = readFileSync('dashboard/parts/set-up/connect-form.tsx', 'utf8');
    expect(page.match(SCOPE)).toBeNull();
    expect(page).toContain('BOT_SCOPES.map(');
  });

  test('let it write to repositories, and to nothing else', () => {
    expect(needed.filter((scope) => scope.startsWith('write:'))).toEqual(['write:repository']);
  });
});
