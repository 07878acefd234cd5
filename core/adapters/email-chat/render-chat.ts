import type { Notice } from '../../domain/notice.ts';

/** Of one text: below the 3,000 of a block there, and twice as many escaped are below the other's 2,000. */
const TEXT_CHARS_MAX = 900;
/** The other service's limit for a whole message. */
const CONTENT_CHARS_MAX = 2_000;
const SUPPRESS_EMBEDS = 4;

/**
 * Chat A: what people typed stands in blocks of plain text, which know no markup and mention nobody; only our own links
 * are markup. `text` is what a phone shows before the message is opened.
 */
export function renderChatA(notice: Notice): unknown {
  const plain = (text: string) => ({ type: 'plain_text', text: cut(text), emoji: false });
  const links = notice.links.map(({ label, url }) => `<${escapeChatA(url)}|${label}>`).join('  ·  ');
  return {
    text: escapeChatA(cut(notice.subject)),
    unfurl_links: false,
    unfurl_media: false,
    blocks: [
      { type: 'section', text: plain(notice.subject) },
      { type: 'section', text: plain(notice.lines.join('\n')) },
      ...(links === '' ? [] : [{ type: 'section', text: { type: 'mrkdwn', text: links, verbatim: true } }]),
    ],
  };
}

/** The three characters that begin a link, a mention or an entity there. */
export function escapeChatA(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}

/** Chat B: Markdown, so every character that means something in it is escaped; nobody is mentioned, nothing is embedded. */
export function renderChatB(notice: Notice): unknown {
  const lines = [
    `**${escapeChatB(cut(notice.subject))}**`,
    ...notice.lines.map((line) => escapeChatB(cut(line))),
    // Angle brackets keep the service from fetching a preview.
    ...notice.links.map(({ label, url }) => `${label}: <${url}>`),
  ];
  let content = '';
  // Whole lines only: half an escape or half a link would be another text.
  for (const line of lines) if (content.length + line.length < CONTENT_CHARS_MAX) content += `${line}\n`;
  return { content: content.trimEnd(), allowed_mentions: { parse: [] }, flags: SUPPRESS_EMBEDS };
}

/**
 * A backslash takes the meaning from any ASCII punctuation. A colon would begin a bare link that needs no markup at all, so
 * the schemes are broken with a zero-width space.
 */
export function escapeChatB(text: string): string {
  return text
    .replace(/[!-/:-@[-`{-~]/g, (char) => (':/.,;\'"?='.includes(char) ? char : `\\${char}`))
    .replace(/:\/\//g, ':\u200b//')
    .replace(/^(\s*\d+)([.)])/, '$1\\$2');
}

function cut(text: string): string {
  const chars = [...text];
  return chars.length <= TEXT_CHARS_MAX ? text : `${chars.slice(0, TEXT_CHARS_MAX - 1).join('')}…`;
}
