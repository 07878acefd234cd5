import { obligations } from '#core/adapters/dynamo/rows/obligations.ts';
import { queueView } from '#core/adapters/dynamo/rows/queue-view.ts';
import type { BlockKind, PlaceState } from '#core/domain/queue/queue-view.ts';
import { givenObligations, givenQueueView } from '../../../../../builders/told-queue.ts';

const place = (pr: number, state: PlaceState) => ({
  pr,
  title: 'x',
  head: 'a'.repeat(40),
  queuedAt: 0,
  state,
  reason: null,
  until: null,
});
const block = (kind: BlockKind, pr: number | null) => ({ kind, since: null, until: null, pr, runUrl: null });

test.each<[string, ReturnType<typeof queueView.write>, readonly number[]]>([
  [
    'staged and landing',
    queueView.write(givenQueueView({ places: [place(1, 'landing'), place(2, 'staged')] })),
    [1, 2],
  ],
  [
    'out of the queue, its success being taken back',
    queueView.write(givenQueueView({ block: block('revoke', 9) })),
    [9],
  ],
  [
    'only ready, at the gate',
    queueView.write(givenQueueView({ places: [place(1, 'ready')], block: block('gate', 1) })),
    [],
  ],
])(
  'a row of before obligations were told says by its queue what is in flight: %s',
  (_name, row, inFlight) => {
    expect(obligations.read({ ...row, afoot: true, standing: true })).toEqual(
      givenObligations({ open: true, successStands: true, inFlight }),
    );
  },
);

test('obligations are read although the queue view beside them is of a later version', () => {
  const told = givenObligations({ at: 3, open: true, atRest: true, inFlight: [4], repoId: 7 });
  const written = obligations.write(told);
  const row = { ...queueView.write(givenQueueView()), block: { kind: 'of a later version' }, ...written };
  expect(obligations.read(row)).toEqual(told);
});
