import { spawn } from 'node:child_process';
import { LATE_OPTIMIZING } from './late-optimizing.cjs';

export interface Summary {
  readonly seeds: number;
  readonly violations: number;
  readonly sometimes_missing: readonly string[];
}

/** The simulation as `npm run sim` runs it, in a thread of its own: the sandbox of a test costs half of its speed. */
export function runSimulation(...options: readonly string[]): Promise<{ lines: string[]; summary: Summary }> {
  return new Promise((resolve, reject) => {
    const program = ['--import', 'tsx', 'test/simulation/main.ts', ...options];
    const child = spawn(process.execPath, [...LATE_OPTIMIZING, ...program]);
    let text = '';
    let complaint = '';
    child.stdout.on('data', (piece) => {
      text += piece;
    });
    child.stderr.on('data', (piece) => {
      complaint += piece;
    });
    child.on('error', reject);
    child.on('close', () => {
      const lines = text.trim().split('\n');
      const last = lines.pop() ?? '';
      if (!last.startsWith('{')) reject(new Error(`no summary: ${last} ${complaint}`));
      else resolve({ lines, summary: JSON.parse(last) });
    });
  });
}
