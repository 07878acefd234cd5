import { type Cell, runCell } from './cell.ts';

/** One process of the bench: cells come in, rows go out. */
process.on('message', (cell: Cell) => {
  process.send?.(runCell(cell));
});
