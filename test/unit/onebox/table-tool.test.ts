import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callTool } from '../../../onebox/table-tool.ts';

const folder = mkdtempSync(join(tmpdir(), 'onebox-table-tool-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each([
  ['after the end of the answers', 'exec >&-; sleep 0.2; echo "database disk image is malformed" >&2'],
  [
    'in pieces',
    'printf "database disk image" >&2; sleep 0.2; printf " is malformed" >&2; sleep 0.2; echo >&2',
  ],
])('the complaint of a database is told whole where it comes %s', async (_how, script) => {
  const binary = join(folder, 'database');
  writeFileSync(binary, `#!/bin/sh\n${script}\nexit 1\n`);
  chmodSync(binary, 0o700);
  const call = { binary, file: join(folder, 'table.sqlite'), tool: 'query', arguments: {}, isReadOnly: true };
  expect(await callTool({ ...call, withinMs: 10_000 })).toEqual({
    text: null,
    complaint: 'database disk image is malformed',
  });
});
