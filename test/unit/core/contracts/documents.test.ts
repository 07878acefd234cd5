import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { signWebhook } from '#core/adapters/email-chat/webhook.ts';
import { NoticePayload } from '#core/contracts/notices/notice-payload.ts';
import { PatchRepoBody } from '#core/contracts/repos/managed-repo.ts';
import { FILE_REFUSALS, FILE_SETTINGS, refusalOf } from '#core/contracts/repos/repo-settings.ts';
import {
  readSettingsFile,
  SETTINGS_FILE_BYTES_MAX,
  SETTINGS_FILE_PROBLEMS_MAX,
} from '#core/contracts/repos/settings-file.ts';
import { RETRY_DELAYS_MS } from '#core/domain/notices/webhook-delivery.ts';
import { BILLING_STATUSES, PLAN_LIMITS } from '#core/domain/tenants/billing.ts';

const read = (name: string): string => readFileSync(join(__dirname, '../../../../docs', name), 'utf8');
const names = (told: string): readonly string[] =>
  [...told.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
/** First and second cell of each row of a table whose first cell is code. */
const rowsOf = (told: string): readonly (readonly [string, string])[] =>
  [...told.matchAll(/^\| (`[^|]+)\| ([^|]+)\|/gm)].map(([, first = '', second = '']) => [
    first,
    second.trim(),
  ]);

describe('webhook.md', () => {
  const text = read('webhook.md');

  test('names the headers that are sent', () => {
    const sent = signWebhook('whsec_eA==', { id: 'a', seconds: 1, body: 'b' });
    const [, headers = ''] = /\| header [\s\S]*?\n((?:\|.*\n)+)/.exec(text) ?? [];
    expect(rowsOf(headers).flatMap(([first]) => names(first))).toEqual(Object.keys(sent));
  });

  test('has each type of body with each of its fields', () => {
    const [, body = ''] = text.split('## Body');
    const told = rowsOf(body)
      .slice(1)
      .flatMap(([types, data]) =>
        names(types).map((type) => [
          type,
          names(data.replaceAll(/\([^)]*\)|with its words|`null`/g, '')).toSorted(),
        ]),
      );
    const sent = NoticePayload.def.options.flatMap(({ shape }) => {
      const { def } = shape.type;
      const types: readonly string[] = 'values' in def ? def.values : Object.values(def.entries);
      return types.map((type) => [type, Object.keys(shape.data.shape).toSorted()]);
    });
    expect(told).toEqual(sent);
  });

  test('says what a repository and a pull request are told by', () => {
    const shapes = NoticePayload.def.options.map(({ shape }) => shape.data.shape);
    for (const shape of shapes) {
      const { repository } = shape;
      expect(text).toContain(`\`repository\` is \`{${Object.keys(repository.shape).join(', ')}}\``);
      if ('pull_request' in shape)
        expect(text).toContain(
          `\`pull_request\` is \`{${Object.keys(shape.pull_request.shape).join(', ')}}\``,
        );
    }
  });

  test('says after which times a delivery is tried again', () => {
    const minutes = RETRY_DELAYS_MS.map((ms) => ms / 60_000);
    const hours = minutes.slice(2).map((each) => each / 60);
    expect(text).toContain(
      `after ${minutes.slice(0, 2).join(' and ')} minutes and after ${hours.slice(0, -1).join(', ')} and ${hours.at(-1)} hours`,
    );
  });
});

describe('settings-file.md', () => {
  const text = read('settings-file.md');
  const [, never = ''] = text.split('## What the file never sets');

  test('lists what the file never sets, each with its reason', () => {
    const told = rowsOf(never).flatMap(([keys, reason]) => names(keys).map((key) => [key, reason] as const));
    const patched = Object.keys(PatchRepoBody.shape).filter((key) => !Object.hasOwn(FILE_SETTINGS, key));
    const settled = names(/^(`base_branch`.*) are settled at enrollment/m.exec(never)?.[1] ?? '');
    expect([...told.map(([key]) => key), ...settled].toSorted()).toEqual(patched.toSorted());
    for (const [key, reason] of told) {
      const read = readSettingsFile(`${key}: 1`);
      expect(read).toMatchObject({
        ok: false,
        problems: [{ line: 1, says: expect.stringContaining(reason) }],
      });
      const why = refusalOf(key);
      if (why !== undefined) expect(FILE_REFUSALS[why]).toContain(reason);
    }
  });

  test('shows each setting that the file may set, in the order of the command', () => {
    const [, shown = ''] = /\$ mergeyard settings show\n([\s\S]*?)```/.exec(text) ?? [];
    const keys = [...shown.matchAll(/^(\w+): .* \((?:page|file)\)$/gm)].map(([, key]) => key);
    expect(keys).toEqual(Object.keys(FILE_SETTINGS));
  });

  test('says how much a file may hold', () => {
    expect(text).toContain(`at most ${SETTINGS_FILE_BYTES_MAX / 1_024} KiB`);
    expect(text).toContain(`the first ${SETTINGS_FILE_PROBLEMS_MAX} problems`);
  });
});

describe('billing.md', () => {
  const text = read('billing.md');

  test('says what each plan includes, and its ceiling', () => {
    const say = (tier: keyof typeof PLAN_LIMITS, what: 'connections' | 'repos') => {
      const { included, ceiling } = PLAN_LIMITS[tier];
      return `${included[what] ?? 'none'}/${ceiling[what] ?? 'none'}`;
    };
    const [free, pro, team] = (['free', 'pro', 'team'] as const).map(
      (tier) => [say(tier, 'connections'), say(tier, 'repos')] as const,
    );
    expect(free?.[0]).toBe(free?.[1]);
    expect(text).toContain(
      `free ${free?.[0]} connections and repos, pro ${pro?.join(' and ')}, team ${team?.join(' and ')}.`,
    );
  });

  test('has each status of a plan in its table', () => {
    const rows = rowsOf(text).filter(([, tier]) => tier !== '');
    expect(names(rows.map(([first]) => first).join())).toEqual(expect.arrayContaining([...BILLING_STATUSES]));
  });
});
