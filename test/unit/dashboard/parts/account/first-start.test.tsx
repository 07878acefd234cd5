/** @jest-environment jsdom */
import { screen, waitFor } from '@testing-library/react';
import { mountPage } from '../../../../support/mount-page.tsx';

const FORGE_PAGE = 'https://git.example.org/user/settings/applications';

const open = (checks: unknown, at = '/sign-in') =>
  mountPage({
    at,
    session: null,
    config: { checks: '/setup/checks' },
    answers: checks === null ? {} : { 'GET /setup/checks': { checks } },
  });

describe('before the first sign-in the page', () => {
  test('says what is missing in words, and links to the page of the forge where it is mended', async () => {
    const fix = 'The forge refuses the client secret.';
    open([{ what: 'data folder' }, { what: 'OAuth2 application', fix, link: FORGE_PAGE }]);
    await screen.findByRole('heading', { name: 'Before the first sign-in' });
    expect(screen.getAllByRole('listitem').map((item) => item.textContent)).toEqual([
      'data folder is right',
      `OAuth2 application is not right${fix} Open that page of the forge`,
    ]);
    expect(screen.getByRole('link', { name: 'Open that page of the forge' }).getAttribute('href')).toBe(
      FORGE_PAGE,
    );
  });

  test('says so where nothing is missing', async () => {
    open([{ what: 'clock' }]);
    await screen.findByRole('heading', { name: 'Ready for the first sign-in' });
  });

  test('shows nothing once a person has signed in', async () => {
    const { sent } = open(null);
    await waitFor(() => expect(sent.map(({ address }) => address)).toContain('GET /setup/checks'));
    expect(screen.queryByRole('list')).toBeNull();
  });
});
