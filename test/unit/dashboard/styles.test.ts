import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const STYLES = join(__dirname, '../../../dashboard/styles');

interface Frames {
  readonly file: string;
  readonly name: string;
  readonly properties: readonly string[];
}

function readFrames(file: string): readonly Frames[] {
  const text = readFileSync(join(STYLES, file), 'utf8').replace(/\/\*[\s\S]*?\*\//g, '');
  return [...text.matchAll(/@keyframes (\S+) \{((?:[^{}]*\{[^{}]*\})*)/g)].map(
    ([, name = '', steps = '']) => ({
      file,
      name,
      properties: [...steps.matchAll(/([a-z-]+):/g)].map(([, property = '']) => property),
    }),
  );
}

/** A page of the queue stays open all day: any other property is painted anew for each frame, by the processor. */
test('what moves for as long as a page is open changes only what costs a browser next to nothing', () => {
  const frames = readdirSync(STYLES).flatMap(readFrames);
  expect(frames.map(({ name }) => name)).toContain('turn');
  const dear = frames.filter(({ properties }) =>
    properties.some((property) => property !== 'opacity' && property !== 'transform'),
  );
  expect(dear).toEqual([]);
});
