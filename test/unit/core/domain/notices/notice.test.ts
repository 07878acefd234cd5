import { describeAuthorNotice } from '#core/domain/notices/author-notice.ts';
import {
  describeInvoiceNotice,
  findGateRunOfBounce,
  toPlainLine,
  toSafeLink,
  withoutLinks,
} from '#core/domain/notices/notice.ts';
import { describePullNotice, describeTrouble } from '#core/domain/notices/queue-notices.ts';
import { PULL_CODE_NAMES } from '#core/domain/pulls/find-pull-code.ts';
import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import { givenNodeRow } from '../../../../builders/store-rows.ts';

describe('one visible line', () => {
  test.each([
    ['a title', 'a title'],
    ['  a \t title \r\n', 'a title'],
    ['a\u0000b\u001b[31mc', 'a b [31mc'],
    ['\u202Etxt.exe', 'txt.exe'],
    ['zero\u200Bwidth\u2028line', 'zero width line'],
    ['lone \uD800 half', 'lone half'],
    ['Grüße 日本 😀', 'Grüße 日本 😀'],
    ['\uE000private', 'private'],
    ['', ''],
  ])('%j reads %j', (text, line) => {
    expect(toPlainLine(text)).toBe(line);
  });

  test('is cut between letters, with a sign of it', () => {
    expect(toPlainLine('x'.repeat(200))).toHaveLength(200);
    expect(toPlainLine('x'.repeat(201))).toBe(`${'x'.repeat(199)}…`);
    expect(toPlainLine('😀'.repeat(10), 3)).toBe('😀😀…');
  });
});

describe('links', () => {
  test.each([
    ['https://forge.example/a/b/actions/runs/1?x=1#y', 'https://forge.example/a/b/actions/runs/1?x=1#y'],
    ['https://forge.example/a(b)_c*', 'https://forge.example/a%28b%29%5Fc%2A'],
    ['https://forge.example:3000/x', 'https://forge.example:3000/x'],
  ])('%s is shown as %s', (text, shown) => {
    expect(toSafeLink(text)).toBe(shown);
  });

  test.each([
    null,
    '',
    'http://forge.example/x',
    'javascript:alert(1)',
    'https://user:pass@forge.example/x',
    'https://forge.example/<x>',
    'https://forge.example/x|y',
    'https://forge.example/x y',
    'https://forge.example/`',
    'https://',
    '//forge.example/x',
  ])('%j is left out', (text) => {
    expect(toSafeLink(text)).toBeNull();
  });
});

const repo = {
  instanceUrl: 'https://forge.example/',
  slug: 'acme/web',
  baseBranch: 'main',
  id: 'repo-1',
};
const PAGE = 'https://queue.example/repos/repo-1';
const BOUNCE = { event: 'pr_bounced', pr: 3, title: ' ', reason: 'gate_failed' } as const;

test('a title is quoted, cut at 80 characters, and keeps its quotation marks to itself', () => {
  const titled = (title: string) =>
    describePullNotice('bounced', repo, { ...BOUNCE, title }, PAGE, null).lines[0];
  expect(titled('Pay "now"')).toBe(`acme/web #3: "Pay 'now'"`);
  expect(titled('x'.repeat(255))).toBe(`acme/web #3: "${'x'.repeat(79)}…"`);
});

test.each([
  ['See https://evil.example/pay now', 'See https: //evil\u2024example/pay now'],
  ['www.evil.example', 'www\u2024evil\u2024example'],
  ['pay@evil.example, 10.0.0.1', 'pay@evil\u2024example, 10\u20240\u20240\u20241'],
  ['It stays open. Push a fix…', 'It stays open. Push a fix…'],
])('%s is nothing that a mail program makes a link of', (text, shown) => {
  expect(withoutLinks(text)).toBe(shown);
});

test('a bounce names status, next step and run; without title or run it says so', () => {
  const notice = describePullNotice('bounced', repo, BOUNCE, PAGE, 'http://run');
  expect(notice.subject).toBe('acme/web #3 was bounced by the merge queue');
  expect(notice.lines).toEqual([
    'acme/web #3: (no title)',
    `Status: ${PULL_CODES.gate_failed.says}`,
    `Next step: ${PULL_CODES.gate_failed.next}`,
  ]);
  expect(notice.links).toEqual([
    { label: 'Pull request', url: 'https://forge.example/acme/web/pulls/3' },
    { label: 'Queue', url: `${PAGE}/pulls/3` },
  ]);
  const timedOut = describePullNotice('bounced', repo, { ...BOUNCE, reason: 'merge_timeout' }, PAGE, null);
  expect(timedOut.lines).toContain(`Next step: ${PULL_CODES.bounced_merge_timeout.next}`);
});

test('a notice of a landing names no step, because none is left', () => {
  const landed = { ...BOUNCE, event: 'pr_landed', reason: null } as const;
  const told = [
    describePullNotice('landed', repo, landed, PAGE, null),
    describeAuthorNotice('landed', repo, landed, null),
  ];
  for (const { lines } of told) {
    expect(lines).toContain('No step is needed: it is merged.');
    expect(lines.join()).not.toContain('Next step');
  }
});

test.each(PULL_CODE_NAMES)('a notice of %s calls nothing a step that is none', (reason) => {
  const { lines } = describePullNotice(
    'refused',
    repo,
    { ...BOUNCE, event: 'pr_refused', reason },
    PAGE,
    null,
  );
  expect(lines.join('\n')).not.toMatch(/Next step: Nothing/);
  expect(lines).toHaveLength(3);
});

test.each([
  ['conflict', 'is refused by the merge queue for now'],
  ['base_red', 'is set aside by the merge queue for now'],
] as const)('the subject says of %s what its status says', (reason, happened) => {
  const event = { ...BOUNCE, event: 'pr_refused', reason } as const;
  expect(describePullNotice('refused', repo, event, PAGE, null).subject).toBe(`acme/web #3 ${happened}`);
  expect(describeAuthorNotice('refused', repo, event, null).subject).toBe(`acme/web #3 ${happened}`);
});

test('a merge that is not the proven one is news of its own, not a landing', () => {
  const event = { ...BOUNCE, event: 'pr_landed', reason: 'unverified' } as const;
  const happened = 'acme/web #3 was merged, but not as it was proven';
  expect(describePullNotice('landed', repo, event, PAGE, null).subject).toBe(happened);
  expect(describeAuthorNotice('landed', repo, event, null).subject).toBe(happened);
});

test('a notice of an invoice has a link only where there is a page', () => {
  // https://docs.stripe.com/api/customers/update: a new payment method alone pays no invoice that is open.
  expect(describeInvoiceNotice(null).lines.join()).toContain('then pay the open invoice');
  expect(describeInvoiceNotice(null).links).toEqual([]);
  expect(describeInvoiceNotice('https://queue.example/billing').links).toHaveLength(1);
});

test.each([
  ['rights', /, since .* at the earliest\.$/],
  ['webhook_missing', /, since .* UTC\.$/],
] as const)('a change of %s is told with when it was, as well as that is known', (name, words) => {
  const repo = { id: 'repo-1', instanceUrl: 'https://forge.example', slug: 'a/b', baseBranch: 'main' };
  const trouble = { repoId: 'repo-1', topic: 'drift', name, since: 0 } as const;
  expect(describeTrouble(repo, trouble, 'https://queue.example').lines[0]).toMatch(words);
});

describe('the run of a bounce', () => {
  const of = { repoId: 'repo-1', pr: 2, at: 5 };
  const bounced = givenNodeRow({
    id: 'b',
    prs: [2],
    runUrl: 'https://run/bounced',
    actions: [{ pr: 2, action: 'bounced', stagingSha: null, gateVerdict: 'failure', cursor: 0 }],
  });
  const alone = givenNodeRow({ id: 'a', prs: [2], gateVerdict: 'failure', runUrl: 'https://run/alone' });

  test('is that of the batch with the bounce, else of the newest that failed on it alone', () => {
    expect(findGateRunOfBounce([alone, bounced], of)).toBe('https://run/bounced');
    expect(findGateRunOfBounce([{ ...bounced, runUrl: null }, alone], of)).toBe('https://run/alone');
    expect(findGateRunOfBounce([alone], of)).toBe('https://run/alone');
  });

  test('is unknown rather than that of another repo, pull request or verdict', () => {
    expect(findGateRunOfBounce([], of)).toBeNull();
    expect(findGateRunOfBounce([{ ...alone, repoId: 'repo-2' }], of)).toBeNull();
    expect(findGateRunOfBounce([{ ...alone, prs: [3] }], of)).toBeNull();
    expect(findGateRunOfBounce([{ ...alone, prs: [2, 3] }], of)).toBeNull();
    expect(findGateRunOfBounce([{ ...alone, gateVerdict: 'success' }], of)).toBeNull();
  });
});
