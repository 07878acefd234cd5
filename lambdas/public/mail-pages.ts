/** The button posts to the page's own address; the page loads nothing and tells no other site where it was. */
export const MAIL_PAGE_HEADERS = {
  'content-security-policy':
    "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'referrer-policy': 'no-referrer',
} as const;

const page = (title: string, rest: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title></head><body><h1>${title}</h1>${rest}</body></html>\n`;

/** Opening a link changes nothing: programs that look through mails open links too. */
export const UNSUBSCRIBE_PAGE = page(
  'Stop these mails?',
  '<p>The merge queue sends no more mails of this team to your address.</p><form method="post"><button type="submit">Unsubscribe</button></form>',
);
export const UNSUBSCRIBED_PAGE = page(
  'You are unsubscribed',
  '<p>The merge queue sends no more mails of this team to your address.</p>',
);
