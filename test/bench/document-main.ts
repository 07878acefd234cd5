import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DOCUMENT, renderDocument } from './document.ts';
import type { Anchors } from './queue/targets.ts';

/** `npm run bench:document`: writes `docs/bench.md` anew. */
const queue = join(import.meta.dirname, 'queue');
const anchors = JSON.parse(readFileSync(join(queue, 'anchors.json'), 'utf8')) as Anchors;
writeFileSync(DOCUMENT, renderDocument(readFileSync(join(queue, 'results.jsonl'), 'utf8'), anchors));
console.log(`${DOCUMENT} is written`);
