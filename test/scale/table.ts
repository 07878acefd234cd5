import { estimateScale } from '../../lib/cost.ts';
import { type Build, type Deployment, playDispatch } from './model.ts';

export interface Scale {
  readonly deployment: Deployment;
  /** Minutes of virtual time: enough for six ticks and more. */
  readonly minutes: number;
  /** Of before. */
  readonly build?: Build;
}

const deployment = (
  repos: number,
  [workersMax, engineTasks, engineVcpu, tickMemoryMb]: readonly [number, number, number, number],
): Deployment => ({ repos, workersMax, engineTasks, engineVcpu, tickMemoryMb });

/** 100,000 are ten deployments of 10,000 (docs/scale.md, cells): the last line is what one deployment of that size would be. */
export const SCALES: readonly Scale[] = [
  { deployment: deployment(10, [20, 1, 0.25, 256]), minutes: 120 },
  { deployment: deployment(1_000, [20, 1, 1, 512]), minutes: 60 },
  { deployment: deployment(1_000, [60, 1, 1, 512]), minutes: 60 },
  { deployment: deployment(10_000, [400, 4, 2, 1_792]), minutes: 40, build: { oneSection: true } },
  { deployment: deployment(10_000, [400, 4, 2, 1_792]), minutes: 40 },
  { deployment: deployment(100_000, [1_000, 20, 4, 1_792]), minutes: 20 },
];

const COLUMNS = [
  'repositories',
  'workers',
  'engine',
  'tick',
  'between looks p50 / p99 / longest',
  'workers busy',
  'engine CPU',
  'row of reconciles',
  'fullest due partition',
  'sent back',
  'USD a month',
];

/** Markdown, one line for each deployment. */
export function describeScale(scales: readonly Scale[]): string {
  const lines = scales.map(({ deployment: size, minutes, build = {} }) => {
    const seen = playDispatch(size, minutes, build);
    const hours = minutes / 60;
    const usd = estimateScale(
      { vcpu: size.engineVcpu, tasks: size.engineTasks },
      {
        looks: (seen.looks - seen.reconciles) / hours,
        glances: seen.glances / hours,
        reconciles: seen.reconciles / hours,
      },
    );
    return [
      size.repos.toLocaleString('en-US'),
      `${size.workersMax}`,
      `${size.engineTasks} × ${size.engineVcpu} vCPU`,
      `${size.tickMemoryMb} MB, ${seen.tickSendsS} s`,
      `${seen.p50S} / ${seen.p99S} / ${seen.longestS} s`,
      `${seen.workersBusy}`,
      `${seen.engineCpuPercent} %`,
      `${seen.runsRowPercent} %${build.oneSection ? ', one row' : ''}`,
      `${seen.dueMarksPercent} %`,
      `${seen.crowded}`,
      `${Math.round(usd).toLocaleString('en-US')}`,
    ];
  });
  const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [row(COLUMNS), row(COLUMNS.map(() => '---:')), ...lines.map(row)].join('\n');
}
