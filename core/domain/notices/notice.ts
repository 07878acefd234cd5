import { parseUrl } from '../parse-url.ts';
import type { ActivityEvent, NodeRow } from '../queue/batch.ts';
import type { ManagedRepo } from '../repos/repo.ts';

/** A message to people, before any service's own markup. Texts are plain: they may hold anything an author typed. */
export interface Notice {
  /** One line. */
  readonly subject: string;
  /** Whole sentences, one per line. */
  readonly lines: readonly string[];
  /** https addresses without a character that means something in any of the markups. */
  readonly links: readonly { readonly label: string; readonly url: string }[];
}

/** A line longer than this is cut. */
const LINE_CHARS_MAX = 200;
/** A title longer than this is cut: a notice says which pull request, and is no page of its author. */
const TITLE_CHARS_MAX = 80;
/** Letters that turn or hide the text around them (bidi controls, zero widths), and control characters (A117). */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}]+/gu;

/** One visible line. */
export function toPlainLine(text: string, charsMax = LINE_CHARS_MAX): string {
  const line = text.replace(HIDDEN, ' ').replace(/\s+/g, ' ').trim();
  const chars = [...line];
  return chars.length <= charsMax ? line : `${chars.slice(0, charsMax - 1).join('')}…`;
}

/** A dot that ends no name of a host (U+2024): it looks the same, and a mail program makes no link of it. */
const DOT_OF_NO_HOST = '\u2024';

/** A text that reads the same, without addresses, hosts and mailboxes that a mail program would make links of. */
export function withoutLinks(text: string): string {
  return text.replaceAll('://', ': //').replace(/(?<=[\p{L}\p{N}])\.(?=[\p{L}\p{N}])/gu, DOT_OF_NO_HOST);
}

/** An address that is safe in every markup: https, no userinfo, only characters that need no escape. Null: leave it out. */
export function toSafeLink(text: string | null): string | null {
  if (text === null || !/^https:\/\/[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]+$/.test(text)) return null;
  const url = parseUrl(text);
  if (url === null || url.username !== '' || url.password !== '') return null;
  const rest = `${url.pathname}${url.search}${url.hash}`;
  return (
    url.origin + rest.replace(/[()[\]*_'!~]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
  );
}

/** Repository, number and title, in one line. */
export function nameOfPull(slug: string, { pr, title: given }: Pick<ActivityEvent, 'pr' | 'title'>): string {
  const title = toPlainLine(given, TITLE_CHARS_MAX).replaceAll('"', "'");
  return `${toPlainLine(slug)} #${pr}: ${title === '' ? '(no title)' : `"${title}"`}`;
}

/** "Nothing: …" answers the question for the next step; as a step it would be none. */
export function sayNextStep(next: string): string {
  const [, why] = /^Nothing: (.*)$/s.exec(next) ?? [];
  return why === undefined ? `Next step: ${next}` : `No step is needed: ${why}`;
}

export function urlOfPull(repo: Pick<ManagedRepo, 'instanceUrl' | 'slug'>, pr: number): string {
  return `${repo.instanceUrl.replace(/\/+$/, '')}/${repo.slug}/pulls/${pr}`;
}

/** No amount and no name: the mail may reach more people than the owner. */
export function describeInvoiceNotice(billingUrl: string | null): Notice {
  return {
    subject: 'A payment for your merge queue plan failed',
    lines: [
      'The last invoice could not be paid, so the plan is not active now.',
      'Until it is paid, nothing lands in the repositories beyond the free allowance. The oldest repositories go on.',
      // A new payment method alone pays nothing that is open (https://docs.stripe.com/api/customers/update).
      'Next step: open the billing page and press "Settle the payment". On the page that opens, update the payment method, then pay the open invoice.',
    ],
    links: toLinks([['Billing', billingUrl]]),
  };
}

/** Says which repository, because its reader may be in many teams. The slug is a text of the tenant. */
export function describeConfirmation(slug: string, confirmUrl: string): Notice {
  return {
    subject: 'Confirm that notices of a merge queue may come here',
    lines: [
      `This address is entered for notices about "${toPlainLine(slug, TITLE_CHARS_MAX).replaceAll('"', "'")}".`,
      'No notice is sent before you confirm. The link below counts for 7 days.',
      'If you do not expect this, do nothing; the last link ends all mails of that team.',
    ],
    // The service's own address, which is http on one's own machine.
    links: [{ label: 'Confirm', url: confirmUrl }],
  };
}

/** The wanted links whose address is safe in every markup. */
export function toLinks(wanted: readonly (readonly [string, string | null])[]): Notice['links'] {
  return wanted.flatMap(([label, text]) => {
    const url = toSafeLink(text);
    return url === null ? [] : [{ label, url }];
  });
}

/** The gate run that failed this pull request, among the newest batches of its tenant. */
export function findGateRunOfBounce(
  batches: readonly NodeRow[],
  event: Pick<ActivityEvent, 'repoId' | 'pr' | 'at'>,
): string | null {
  const ofPull = batches.filter((row) => row.repoId === event.repoId && row.prs.includes(event.pr));
  const bounced = ofPull.find((row) =>
    row.actions.some((action) => action.pr === event.pr && action.action === 'bounced'),
  );
  const alone = ofPull.find((row) => row.prs.length === 1 && row.gateVerdict === 'failure');
  return bounced?.runUrl ?? alone?.runUrl ?? null;
}
