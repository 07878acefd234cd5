import { type Notice, withoutLinks } from '../../domain/notices/notice.ts';
import type { Chat } from '../../domain/notices/notice-ways.ts';

/**
 * Characters of one text: fewer than the 3,000 of a Slack block, and even if each is escaped fewer than the 2,000 of
 * Discord.
 */
const TEXT_CHARS_MAX = 900;
/** Discord's limit for a whole message. */
const DISCORD_CHARS_MAX = 2_000;
const SUPPRESS_EMBEDS = 4;

/** Body of a message, by chat. */
export const CHAT_RENDERERS: Readonly<Record<Chat, (notice: Notice) => unknown>> = {
  slack: renderSlack,
  discord: renderDiscord,
};

/**
 * Slack: what people typed stands in blocks of plain text, which know no markup and mention no person; only our own links
 * are markup. `text` is what a phone shows before the message is opened.
 */
function renderSlack(notice: Notice): unknown {
  const plain = (text: string) => ({ type: 'plain_text', text: cut(text), emoji: false });
  const links = notice.links.map(({ label, url }) => `<${escapeSlack(url)}|${label}>`).join('  ·  ');
  return {
    text: escapeSlack(cut(notice.subject)),
    unfurl_links: false,
    unfurl_media: false,
    blocks: [
      { type: 'section', text: plain(notice.subject) },
      { type: 'section', text: plain(notice.lines.join('\n')) },
      ...(links === '' ? [] : [{ type: 'section', text: { type: 'mrkdwn', text: links, verbatim: true } }]),
    ],
  };
}

/** Escapes the three characters that begin a link, a mention or an entity in Slack. */
function escapeSlack(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}

/** Discord: Markdown, so every character that means something in it is escaped; no person is mentioned, nothing is embedded. */
function renderDiscord(notice: Notice): unknown {
  const lines = [
    `**${escapeDiscord(cut(notice.subject))}**`,
    ...notice.lines.map((line) => escapeDiscord(cut(line))),
    // Angle brackets keep the service from fetching a preview.
    ...notice.links.map(({ label, url }) => `${label}: <${url}>`),
  ];
  let content = '';
  // Whole lines only: half an escape or half a link would be another text.
  for (const line of lines) if (content.length + line.length < DISCORD_CHARS_MAX) content += `${line}\n`;
  return { content: content.trimEnd(), allowed_mentions: { parse: [] }, flags: SUPPRESS_EMBEDS };
}

/**
 * Escapes text for Discord. A backslash makes any ASCII punctuation literal. A scheme would begin a link without any
 * markup, so it is broken with a zero-width space.
 */
function escapeDiscord(text: string): string {
  return text
    .replace(/[!-/:-@[-`{-~]/g, (char) => (':/.,;\'"?='.includes(char) ? char : `\\${char}`))
    .replace(/:\/\//g, ':\u200b//')
    .replace(/^(\s*\d+)([.)])/, '$1\\$2');
}

/** Matrix: a plain body without a formatted one, which is shown as it is; a notice, that no bot answers, mentions no person. */
export function renderMatrix(notice: Notice): unknown {
  const lines = [notice.subject, ...notice.lines].map((line) => withoutLinks(cut(line)));
  const links = notice.links.map(({ label, url }) => `${label}: ${url}`);
  return { msgtype: 'm.notice', body: [...lines, ...links].join('\n'), 'm.mentions': {} };
}

function cut(text: string): string {
  const chars = [...text];
  return chars.length <= TEXT_CHARS_MAX ? text : `${chars.slice(0, TEXT_CHARS_MAX - 1).join('')}…`;
}
