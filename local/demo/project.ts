import { DEFAULT_SERVICE_NAME, gateFileName, stagingPattern } from '#core/domain/queue/queue-names.ts';

/** The small project of the demo, and the twelve pull requests of its story. */

/**
 * Plain git instead of an action: the story is played where no other server can be reached. The token of the run goes
 * by the environment, never by a command line; an authority of the forge's own is the runner's `GIT_SSL_CAINFO`.
 */
const CHECK_OUT = [
  'if [ -n "$GITHUB_TOKEN" ]; then',
  '  export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=http.extraHeader',
  `  export GIT_CONFIG_VALUE_0="Authorization: Basic $(printf 'run:%s' "$GITHUB_TOKEN" | base64 | tr -d '\\n')"`,
  'fi',
  'git init --quiet',
  'git fetch --quiet --depth 1 "$GITHUB_SERVER_URL/$GITHUB_REPOSITORY" "$GITHUB_SHA"',
  'git checkout --quiet FETCH_HEAD',
];

/** Runs every test of the project. Under `node --test` each file would be a process more for each of some fifteen gate runs. */
export const TEST_PROGRAM = 'test/run.js';

const GATE = `name: gate
on:
  push:
    branches: ['${stagingPattern(DEFAULT_SERVICE_NAME)}']
jobs:
  gate:
    runs-on: docker
    steps:
      - name: check out
        run: |
          ${CHECK_OUT.join('\n          ')}
      - name: tests
        run: node ${TEST_PROGRAM}
`;

const PROJECT_FILES: Readonly<Record<string, string>> = {
  'README.md': '# Corner shop\n\nA cart, prices and a few features.\n',
  'package.json': '{ "name": "corner-shop", "private": true, "type": "module" }\n',
  'src/cart.js': `export function total(items) {
  return items.reduce((sum, item) => sum + item.price * item.count, 0);
}
`,
  [TEST_PROGRAM]: `import { readdirSync } from 'node:fs';

for (const name of readdirSync('test')) if (name.endsWith('.test.js')) await import('./' + name);
`,
  'test/cart.test.js': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { total } from '../src/cart.js';

test('a cart adds up to the cent', () => {
  assert.equal(total([{ price: 150, count: 2 }, { price: 99, count: 1 }]), 399);
});
`,
  'features/search.json': '{ "slots": 1 }\n',
  'test/features.test.js': `import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

test('all features together fit into four slots', () => {
  const features = readdirSync('features').map((name) => JSON.parse(readFileSync('features/' + name, 'utf8')));
  assert.ok(features.reduce((sum, feature) => sum + feature.slots, 0) <= 4);
});
`,
};

/** The gate as a workflow; `folder` is one that the forge reads. */
export function gateFile(folder: string): Readonly<Record<string, string>> {
  return { [`${folder}/${gateFileName(DEFAULT_SERVICE_NAME)}`]: GATE };
}

/** The first files of the base, with those of its gate. */
export function baseFiles(gate: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return { ...PROJECT_FILES, ...gate };
}

export type Fate = 'lands' | 'bounced' | 'skipped';

export interface PlannedPullRequest {
  readonly branch: string;
  readonly title: string;
  readonly files: Readonly<Record<string, string>>;
  readonly fate: Fate;
  /** The special thing about it, as shown at the end. */
  readonly note: string;
  readonly twist?: 'head_pushed' | 'cancelled';
  /** Branch of the one that it fails together with: whichever is first lands, and the fates may be the other way round. */
  readonly partner?: string;
}

function withTest(name: string, body: string, check: string): Readonly<Record<string, string>> {
  return {
    [`src/${name}.js`]: body,
    [`test/${name}.test.js`]: `import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as ${name} from '../src/${name}.js';

test('${name}', () => {
  ${check}
});
`,
  };
}

export const PULL_REQUESTS: readonly PlannedPullRequest[] = [
  {
    branch: 'opening-hours',
    title: 'Say when the shop is open',
    files: { 'README.md': '# Corner shop\n\nA cart, prices and a few features. Open from eight to eight.\n' },
    fate: 'lands',
    note: '',
  },
  {
    branch: 'discount',
    title: 'Give a discount',
    files: withTest(
      'discount',
      'export const tenPercent = (cents) => Math.round(cents * 0.9);\n',
      'assert.equal(discount.tenPercent(100), 90);',
    ),
    fate: 'lands',
    note: '',
  },
  {
    branch: 'round-down',
    title: 'Round totals down to whole euros',
    files: {
      'src/cart.js': `export function total(items) {
  const cents = items.reduce((sum, item) => sum + item.price * item.count, 0);
  return cents - (cents % 100);
}
`,
    },
    fate: 'bounced',
    note: 'breaks a test',
  },
  {
    branch: 'currency',
    title: 'Print prices with a currency',
    files: withTest(
      'currency',
      "export const print = (cents) => (cents / 100).toFixed(2) + ' EUR';\n",
      "assert.equal(currency.print(399), '3.99 EUR');",
    ),
    fate: 'lands',
    note: '',
  },
  {
    branch: 'wishlist',
    title: 'Add a wish list',
    files: { 'features/wishlist.json': '{ "slots": 2 }\n' },
    fate: 'lands',
    note: 'fails only together with the gift wrap',
    partner: 'gift-wrap',
  },
  {
    branch: 'gift-wrap',
    title: 'Add gift wrapping',
    files: { 'features/gift-wrap.json': '{ "slots": 2 }\n' },
    fate: 'bounced',
    note: 'fails only together with the wish list',
    partner: 'wishlist',
  },
  {
    branch: 'stock',
    title: 'Count the stock',
    files: withTest(
      'stock',
      'export const left = (had, sold) => Math.max(0, had - sold);\n',
      'assert.equal(stock.left(3, 5), 0);',
    ),
    fate: 'lands',
    note: '',
  },
  {
    branch: 'greeting',
    title: 'Greet customers by name',
    files: withTest(
      'greeting',
      "export const greet = (name) => 'Hello ' + name;\n",
      "assert.equal(greeting.greet('Ada'), 'Hello Ada');",
    ),
    fate: 'lands',
    note: 'its head is pushed while its batch is gated; scheduled again',
    twist: 'head_pushed',
  },
  {
    branch: 'coupons',
    title: 'Accept coupons',
    files: withTest(
      'coupons',
      "export const valid = (code) => code === 'CORNER';\n",
      "assert.ok(coupons.valid('CORNER'));",
    ),
    fate: 'skipped',
    note: 'its auto-merge is cancelled',
    twist: 'cancelled',
  },
  {
    branch: 'night-hours',
    title: 'Open at night as well',
    files: { 'README.md': '# Corner shop\n\nA cart, prices and a few features. Open day and night.\n' },
    fate: 'skipped',
    note: 'conflicts with the opening hours',
  },
  {
    branch: 'receipt',
    title: 'Print a receipt',
    files: withTest(
      'receipt',
      "export const line = (name, cents) => name + ' ' + cents;\n",
      "assert.equal(receipt.line('tea', 250), 'tea 250');",
    ),
    fate: 'lands',
    note: '',
  },
  {
    branch: 'tips',
    title: 'Split tips between the staff',
    files: withTest(
      'tips',
      'export const share = (cents, people) => Math.floor(cents / people);\n',
      'assert.equal(tips.share(100, 3), 33);',
    ),
    fate: 'lands',
    note: '',
  },
];

export const HEAD_PUSH: Readonly<Record<string, string>> = {
  'src/greeting.js': "export const greet = (name) => 'Hello ' + name.trim();\n",
};
