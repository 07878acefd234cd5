/** @jest-environment jsdom */
import { render, screen } from '@testing-library/react';
import { DRIFTS } from '#core/domain/drift.ts';
import { Drifts } from '../../../dashboard/parts/drifts.tsx';
import { givenActivity } from './rows.ts';

test('what was changed on the forge is told with what to do, and that nothing says who did it', () => {
  const kind = 'webhook_missing' as const;
  const drift = {
    kind,
    since: '2026-11-21T10:00:00.000Z',
    by: 'unknown' as const,
    repair: 'off' as const,
    ...DRIFTS[kind],
  };
  const { rerender } = render(<Drifts activity={givenActivity({ drifts: [drift] })} />);
  const said = screen.getByRole('listitem').textContent;
  expect(said).toContain(DRIFTS[kind].says);
  expect(said).toContain('does not tell who');
  expect(said).toContain(DRIFTS[kind].next);
  const repair = { part: 'webhook', at: drift.since, result: 'done', by: 'unknown' } as const;
  rerender(<Drifts activity={givenActivity({ repairs: [repair] })} />);
  expect(screen.getByRole('listitem').textContent).toContain('registered the webhook again');
  rerender(<Drifts activity={givenActivity()} />);
  expect(screen.queryByRole('heading')).toBeNull();
});
