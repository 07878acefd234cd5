import { readFileSync } from 'node:fs';
import { estimateIdleCost, sumUsd } from '../../lib/cost.ts';
import { countResources } from '../../lib/report.ts';
import { FULL, readTemplate, type StackTemplate } from '../support/template.ts';

const linesOf = (template: StackTemplate) =>
  estimateIdleCost(countResources(Object.values(template.resources)));

describe('the price of an idle deployment', () => {
  const lines = linesOf(readTemplate());
  const asleep = lines.filter((line) => line.alwaysOn);

  test('is mostly the engine’s, and little while that sleeps', () => {
    expect(sumUsd(lines)).toBeLessThan(17);
    expect(sumUsd(asleep)).toBeLessThan(6);
  });

  test('is what the operator’s document says', () => {
    const [, running, sleeping] = /\*\*idle\*\*\s*\|\s*\*\*(\S+)\*\*\s*\|\s*\*\*(\S+)\*\*/.exec(
      readFileSync('docs/operate.md', 'utf8'),
    ) ?? ['', '', ''];
    expect([running, sleeping]).toEqual([sumUsd(lines).toFixed(2), sumUsd(asleep).toFixed(2)]);
  });

  test('follows the template: what is switched on is counted', () => {
    const named = Object.fromEntries(linesOf(readTemplate(FULL)).map((line) => [line.what, line.usd]));
    expect(named['rules at the edge']).toBe(8);
    expect(named.secrets).toBe(2);
  });
});
