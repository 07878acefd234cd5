/** @jest-environment jsdom */
import { fireEvent, screen, waitFor } from '@testing-library/react';
import { mountPage } from '../../../../support/mount-page.tsx';

const FORGE = 'https://git.example.org';
const ANSWERS = { 'GET /api/v1/connections': [], 'GET /api/v1/me': { id: 'tenant', is_admin: false } };

describe('the page where a forge is connected', () => {
  test('has the address of an installation’s one forge filled in, and links to its pages', async () => {
    const { sent } = mountPage({ at: '/start', answers: ANSWERS, config: { forge: FORGE } });
    const address = await screen.findByLabelText<HTMLInputElement>('Forge address');
    expect(address.value).toBe(FORGE);
    const link = screen.getByRole('link', { name: 'Settings, Applications' });
    expect(link.getAttribute('href')).toBe(`${FORGE}/user/settings/applications`);
    fireEvent.change(screen.getByLabelText('Bot login'), { target: { value: 'mq-bot' } });
    fireEvent.change(screen.getByLabelText('Access token of the bot'), { target: { value: 'secret' } });
    fireEvent.click(screen.getByRole('button', { name: 'Connect' }));
    await waitFor(() => expect(sent.some(({ address: to }) => to === 'POST /api/v1/connections')).toBe(true));
    expect(sent.find(({ address: to }) => to === 'POST /api/v1/connections')?.body).toEqual({
      instance_url: FORGE,
      bot_login: 'mq-bot',
      token: 'secret',
    });
  });

  test('asks for the address where people bring their own forges', async () => {
    mountPage({ at: '/start', answers: ANSWERS });
    expect((await screen.findByLabelText<HTMLInputElement>('Forge address')).value).toBe('');
    expect(screen.queryByRole('link', { name: 'Settings, Applications' })).toBeNull();
  });
});
