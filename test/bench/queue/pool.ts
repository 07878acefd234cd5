import { type ChildProcess, fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Cell, Row } from './cell.ts';

const PROCESSES_MAX = 4;

/** Runs cells on all cores; rows come back in the order of the cells, each told as soon as all before it are there. */
export async function runCells(cells: readonly Cell[], tell: (row: Row) => void): Promise<readonly Row[]> {
  const rows: (Row | undefined)[] = cells.map(() => undefined);
  let next = 0;
  let told = 0;
  const children = Array.from({ length: Math.min(PROCESSES_MAX, availableParallelism(), cells.length) }, () =>
    fork(join(import.meta.dirname, 'worker.ts'), { execArgv: process.execArgv }),
  );
  const work = async (child: ChildProcess): Promise<void> => {
    for (let index = next++; index < cells.length; index = next++) {
      rows[index] = await askChild(child, cells[index]);
      for (let row = rows[told]; row !== undefined; row = rows[told]) {
        tell(row);
        told += 1;
      }
    }
  };
  try {
    await Promise.all(children.map(work));
  } finally {
    for (const child of children) child.kill();
  }
  return rows.filter((row) => row !== undefined);
}

function askChild(child: ChildProcess, cell: Cell | undefined): Promise<Row> {
  return new Promise((resolve, reject) => {
    const leave = (code: number | null) => reject(new Error(`a bench process ended with ${code}`));
    child.once('exit', leave);
    child.once('message', (row) => {
      child.off('exit', leave);
      resolve(row as Row);
    });
    child.send(cell ?? {});
  });
}
