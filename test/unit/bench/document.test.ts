import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DOCUMENT, renderDocument } from '../../bench/document.ts';
import type { Anchors } from '../../bench/queue/targets.ts';

const ROOT = join(__dirname, '../../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const anchors = JSON.parse(read('test/bench/queue/anchors.json')) as Anchors;
const lines = read('test/bench/queue/results.jsonl');

test('docs/bench.md is what `npm run bench:document` makes of the results', () => {
  expect(read(DOCUMENT)).toBe(renderDocument(lines, anchors));
});

test('a figure above its target is bold and listed, one at its target is neither', () => {
  const row = JSON.parse(lines.split('\n')[0] ?? '');
  const changed = { ...row, scenario: 'small-team', fanout: 4, runs_per_landed: 0.97, land_p95: 2.34 };
  const text = renderDocument(JSON.stringify(changed), anchors);
  expect(text).toContain('| small-team | 0.97 · ');
  expect(text).toContain('**2.34**');
  expect(text).toContain('| 4 | small-team | land_p95 | 2.34 | 1.9 |');
});
