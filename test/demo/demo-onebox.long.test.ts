import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setStage } from '../../local/demo/stage.ts';
import { play } from '../../local/demo/story.ts';

jest.setTimeout(200_000);

test('the story of the demo ends on the one box as on the cloud edition, with no unproven landing', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'demo-onebox-'));
  const stage = await setStage(
    {
      json: false,
      keep: false,
      fresh: true,
      onebox: true,
      fanout: 4,
      gate: 'workflow',
      ci: 'woodpecker',
      woodpecker: null,
      forge: null,
      dataDir,
    },
    () => undefined,
  );
  try {
    const { endings, receipts, unproven } = await play(stage, () => undefined);
    expect(endings.filter(({ actual, expected }) => actual !== expected)).toEqual([]);
    expect(receipts).toHaveLength(8);
    expect(unproven).toEqual([]);
  } finally {
    await stage.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
});
