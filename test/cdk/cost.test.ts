import { readFileSync } from 'node:fs';
import { COST_STATES, estimateCost, sumUsd } from '../../lib/cost.ts';
import { countResources, findSize } from '../../lib/report.ts';
import { FULL, readTemplate, type StackTemplate } from '../support/template.ts';

/** Three tasks of twice the size. */
const SIZED = {
  engineCpu: '512',
  engineMemoryMb: '1024',
  engineTasks: '3',
  workersMax: '60',
  tickMemoryMb: '1024',
  queueMetrics: 'true',
};

const linesOf = (template: StackTemplate) => {
  const resources = Object.values(template.resources);
  return estimateCost(countResources(resources), findSize(resources));
};

describe('the price of a deployment', () => {
  const lines = linesOf(readTemplate());

  test('is at most two dollars asleep, four while nothing is scheduled, and ten for one busy team', () => {
    expect(sumUsd(lines, 'asleep')).toBeLessThanOrEqual(2);
    expect(sumUsd(lines, 'idle')).toBeLessThanOrEqual(4);
    expect(sumUsd(lines, 'busy')).toBeLessThanOrEqual(10);
  });

  test('is what the operator’s document says, line by line and in sum', () => {
    const text = readFileSync('docs/operate.md', 'utf8');
    const rows = new Map(
      [...text.matchAll(/^\| (.+?) +\|(( +\**[\d.]+\** +\|){4})/gm)].map(([, what = '', prices = '']) => [
        what.replaceAll('*', ''),
        [...prices.matchAll(/[\d.]+/g)].map(([price]) => price),
      ]),
    );
    for (const line of lines.filter(({ running, busy }) => running + busy > 0)) {
      expect([line.what, rows.get(line.what)]).toEqual([
        line.what,
        COST_STATES.map((state) => line[state].toFixed(2)),
      ]);
    }
    expect(rows.get('all of it')).toEqual(COST_STATES.map((state) => sumUsd(lines, state).toFixed(2)));
  });

  test('follows the template: what is switched on is counted, and the size of the task', () => {
    const named = new Map(linesOf(readTemplate(FULL)).map((line) => [line.what, line]));
    expect(named.get('rules at the edge')?.asleep).toBe(9);
    expect([named.get('credential key')?.asleep, named.get('evidence key')?.asleep]).toEqual([1, 1]);
    // As parameters they cost nothing.
    expect(named.has('secrets')).toBe(false);
    const moving = linesOf(readTemplate(FULL, { movesSecrets: true }));
    expect(moving.find(({ what }) => what === 'secrets')?.asleep).toBe(2);
    expect(named.has('figures of the queues')).toBe(false);
    const sized = linesOf(readTemplate(SIZED));
    const figures = sized.find(({ what }) => what === 'figures of the queues');
    // Five metrics of three sizes.
    expect([figures?.asleep, figures?.running.toFixed(2)]).toEqual([0, '4.50']);
    const told = `nothing while it sleeps, ${figures?.busy.toFixed(2)} for the busy team`;
    expect(readFileSync('docs/operate.md', 'utf8')).toContain(told);
    // They are asked for, and take one busy team past its goal by ten cents at most.
    expect(sumUsd(lines, 'busy') + (figures?.busy ?? 0)).toBeLessThanOrEqual(10.1);
    const [task, address] = sized;
    expect(task?.running).toBeCloseTo(6 * (lines[0]?.running ?? 0), 5);
    expect(address?.running).toBeCloseTo(3 * (lines[1]?.running ?? 0), 5);
  });
});
