/** @jest-environment jsdom */
import { screen, within } from '@testing-library/react';
import { mountPage } from '../../../../support/mount-page.tsx';
import { givenAction, givenFeed, givenNode, givenStatus } from '../../rows.ts';

const AT = '2026-11-21T10:00:00.000Z';

// The page marks the moment at which a tree is drawn; this DOM has no such clock.
beforeAll(() => void Object.assign(performance, { mark: () => undefined }));

test('a screen reader hears of the parts of a batch by the names that the page shows, and of no place that one has left', async () => {
  const root = givenNode({
    id: 'root',
    prs: [4, 5],
    outcome: 'bisected',
    actions: [givenAction(5, 'requeued'), givenAction(6, 'requeued')],
    historical_terminals: [{ pr: 5, event: 'landed', timestamp: AT }] as never,
  });
  const part = givenNode({
    id: 'part',
    node_id: 'r.1',
    parent_id: 'root',
    parent_node_id: 'r',
    prs: [4],
    outcome: 'success',
  });
  mountPage({
    at: '/repos/repo/batches/run',
    answers: {
      'GET /api/v1/me': { id: 'me', is_admin: false },
      'GET /api/v1/user/queue/status': { repos: [givenStatus()] },
      'GET /api/v1/user/queue/activity': givenFeed({
        queue_batches: [{ ...root, prs: [4, 5, 6] }, part],
      }),
    },
  });
  const tree = within(await screen.findByRole('tree'));
  expect(tree.getByRole('treeitem', { name: /^Whole batch, #4, #5 and #6: Split/ })).toBeTruthy();
  expect(tree.getByRole('treeitem', { name: /^Part 1, #4: Landed/ })).toBeTruthy();
  const why = (pr: number) =>
    within(screen.getByRole('row', { name: new RegExp(`^#${pr} `) })).getAllByRole('cell')[1]?.textContent;
  expect(why(5)?.trim()).toBe('Not decided in this batch.');
  expect(why(6)?.trim()).toBe('Not decided in this batch; it keeps its place in the queue.');
});
