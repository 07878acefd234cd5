import { MailboxQuery, toMailboxLink } from '#core/contracts/notices/mailbox.ts';
import { findLeaks } from '../../support/canaries.ts';
import { DISCORD, MAILBOX, type NotifyWorld, ROOM, SLACK } from '../../support/notify-world.ts';

/** The link that ends the mails, as the mail program's own button has it. */
export const leaveUrlOf = (mail?: { readonly headers: Readonly<Record<string, string>> }): string =>
  /^<(.+)>$/.exec(mail?.headers['List-Unsubscribe'] ?? '')?.[1] ?? '';
export const linkOf = (url: string) =>
  toMailboxLink(MailboxQuery.parse(Object.fromEntries(new URL(url).searchParams)));

/** What the test under way has sent and logged, in a world that all tests of a file share; no line may hold a secret. */
export function watchNotices(worldOf: () => NotifyWorld) {
  let seen = { mails: 0, messages: 0, requests: 0, lines: 0 };
  beforeEach(() => {
    const world = worldOf();
    world.email.mood = 'accept';
    world.chat.mood = 'accept';
    seen = {
      mails: world.email.outbox.length,
      messages: world.chat.messages.length,
      requests: world.chat.requests,
      lines: world.lines.length,
    };
  });
  afterEach(() => {
    const secrets = [MAILBOX, SLACK, DISCORD, ROOM.token, ROOM.room, 'chatAcanary51c7', 'chatBcanary93ef'];
    expect(
      findLeaks(
        secrets.map((value) => ({ name: value, value })),
        worldOf().lines,
      ),
    ).toEqual([]);
  });
  const lines = () =>
    worldOf()
      .lines.slice(seen.lines)
      .map((line) => JSON.parse(line));
  return {
    mails: () => worldOf().email.outbox.slice(seen.mails),
    messages: () => worldOf().chat.messages.slice(seen.messages),
    requests: () => worldOf().chat.requests - seen.requests,
    lines,
    /** The outcome of each way, as logged. */
    results: () =>
      Object.fromEntries(
        lines()
          .filter((line) => line.way !== undefined)
          .map((line) => [line.way, line.result ?? (line.level === 'info' ? line.message : line.level)]),
      ),
  };
}
