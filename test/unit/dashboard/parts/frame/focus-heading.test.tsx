/** @jest-environment jsdom */
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { mountPage } from '../../../../support/mount-page.tsx';
import { givenFeed, givenStatus } from '../../rows.ts';

const ANSWERS = {
  'GET /api/v1/me': { id: 'tenant' },
  'GET /api/v1/connections': [],
  'GET /api/v1/user/queue/status': { queue_name: 'mq', repos: [givenStatus()] },
  'GET /api/v1/user/queue/activity': givenFeed(),
};

const follow = async (name: string) => {
  const link = within(await screen.findByRole('navigation', { name: 'Main' })).getByRole('link', { name });
  link.focus();
  fireEvent.click(link);
};

test('a page that is read from the service first is announced by its heading once it is there', async () => {
  mountPage({ at: '/', answers: ANSWERS });
  await follow('Connections');
  expect(screen.queryByRole('heading', { name: 'Connections' })).toBeNull();
  const heading = await screen.findByRole('heading', { name: 'Connections' });
  await waitFor(() => expect(document.activeElement).toBe(heading));
});

test('who has moved on while the page was read keeps the focus', async () => {
  mountPage({ at: '/', answers: ANSWERS });
  await follow('Connections');
  const brand = screen.getByRole('link', { name: 'Mergeyard, overview' });
  brand.focus();
  await screen.findByRole('heading', { name: 'Connections' });
  await Promise.resolve();
  expect(document.activeElement).toBe(brand);
});
