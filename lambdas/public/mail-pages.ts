import { mailUrl, SUBSCRIBE_PATH } from '#core/contracts/notices/mailbox.ts';
import type { MailboxLink } from '#core/ports/mailbox-store.ts';

/** The buttons post to this service; the page loads nothing and tells no other site where it was. */
export const MAIL_PAGE_HEADERS = {
  'content-security-policy':
    "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'referrer-policy': 'no-referrer',
} as const;

const page = (title: string, rest: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title></head><body><h1>${title}</h1>${rest}</body></html>\n`;

/** To the page's own address, or to another one. */
const button = (label: string, action?: string): string =>
  `<form method="post"${action === undefined ? '' : ` action="${action.replaceAll('&', '&amp;')}"`}><button type="submit">${label}</button></form>`;

/** The link has a shape by now: a UUID, hexadecimal digits, letters and digits. */
const wayBack = (link: MailboxLink): string =>
  `<p>If you have unsubscribed before, you can get the mails again.</p>${button('Send me these mails again', mailUrl('', SUBSCRIBE_PATH, link))}`;

/** Opening a link changes nothing: programs that look through mails open links too. */
export const unsubscribePage = (link: MailboxLink): string =>
  page(
    'Stop these mails?',
    `<p>Press the button, and the merge queue sends no more mails of this team to your address.</p>${button('Unsubscribe')}${wayBack(link)}`,
  );

export const unsubscribedPage = (link: MailboxLink): string =>
  page(
    'You are unsubscribed',
    `<p>The merge queue sends no more mails of this team to your address.</p>${wayBack(link)}`,
  );

export const CONFIRM_PAGE = page(
  'Do you want these mails?',
  `<p>A team wants to send notices of its merge queue to your address: what happens to its pull requests and its queue, or that a payment failed.</p>${button('Yes, send them here')}<p>If you did not expect this, close this page: no notice is sent.</p>`,
);
export const CONFIRMED_PAGE = page(
  'You get these mails',
  '<p>The merge queue mails notices of this team to your address. Each mail has a link that ends them.</p>',
);
