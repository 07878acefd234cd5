import { parseUrl } from '#core/domain/parse-url.ts';
import type { ForgeTransport } from './transport.ts';

/** Characters of a link that is kept: no run page has a longer one, and the link is stored with every batch. */
const LINK_CHARS_MAX = 2048;

/** A link to show to people: web addresses only, since the forge could send `javascript:` just as well. */
export function readLink(transport: ForgeTransport, link: string): string | null {
  if (link === '' || link.length > LINK_CHARS_MAX) return null;
  const url = parseUrl(link, transport.instanceBase);
  if (url === null) return null;
  return url.protocol === 'https:' || url.protocol === 'http:' ? url.href : null;
}
