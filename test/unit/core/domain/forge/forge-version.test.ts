import { readFileSync } from 'node:fs';
import {
  givesWholeTimelines,
  isJobAccount,
  isSeenVersion,
  listsRunsForOwners,
  mergesIntoTag,
  nameVersion,
  parseForgeVersion,
  passesSkippedAlone,
  rebasesUpToDate,
  tellsGateRuns,
} from '#core/domain/forge/forge-version.ts';

const FACTS = readFileSync('docs/forge-facts.md', 'utf8');

function mustParse(text: string) {
  const version = parseForgeVersion(text);
  if (version === null) throw new Error(text);
  return version;
}

test.each([
  ['15.0.3+gitea-1.22.0', 'Forgejo 15.0.3', true],
  ['15.0.9+gitea-1.22.0', 'Forgejo 15.0.9', true],
  ['17.0.0+gitea-1.22.0', 'Forgejo 17.0.0', false],
  ['1.26.4', 'Gitea 1.26.4', true],
  ['1.25.4', 'Gitea 1.25.4', true],
  ['1.24.7', 'Gitea 1.24.7', true],
  ['1.23.8', 'Gitea 1.23.8', true],
  ['1.22.6', 'Gitea 1.22.6', false],
  ['15.0.0', 'Gitea 15.0.0', false],
])('%s is %s, and that it was seen is %s', (text, name, seen) => {
  expect([nameVersion(mustParse(text)), isSeenVersion(mustParse(text))]).toEqual([name, seen]);
});

test('the versions that count as seen are those of the list of facts, each with a column', () => {
  const rows = [...FACTS.matchAll(/^\| (\w+) +\| (Forgejo|Gitea) ([\d.]+) +\| ([\drc.,\- ]+?) +\|/gm)];
  expect(rows.length).toBeGreaterThan(0);
  const columns =
    /^\| behaviour .*$/m
      .exec(FACTS)?.[0]
      .split('|')
      .map((cell) => cell.trim()) ?? [];
  for (const [, name = '', kind, series, seen = ''] of rows) {
    expect(columns).toContain(name);
    for (const each of seen.split(', ')) {
      const full = each.split('.').length === 3 ? each : `${each}.0`;
      expect(full.startsWith(`${series}`)).toBe(true);
      expect(isSeenVersion(mustParse(kind === 'Forgejo' ? `${full}+gitea-1.22.0` : full))).toBe(true);
    }
  }
  const all = ['forgejo', 'gitea'].flatMap((kind) =>
    Array.from({ length: 20 * 40 }, (_, index) => ({
      kind: kind as 'forgejo' | 'gitea',
      major: Math.floor(index / 40),
      minor: index % 40,
      patch: 0,
    })),
  );
  expect(all.filter(isSeenVersion)).toHaveLength(rows.length);
});

test.each([
  ['16.0.0+gitea-1.22.0', false],
  ['12.0.0+gitea-1.22.0', false],
  ['11.0.15+gitea-1.22.0', true],
  ['1.26.4', true],
])('on %s a head that holds the whole base is rebased: %s', (text, expected) => {
  expect(rebasesUpToDate(mustParse(text))).toBe(expected);
  expect(rebasesUpToDate(null)).toBe(true);
});

test.each([
  ['11.0.15+gitea-1.22.0', true],
  ['16.0.0+gitea-1.22.0', true],
  ['1.24.7', false],
  ['1.25.0', true],
])('the forge %s takes a required check of which all was skipped for passed: %s', (text, expected) => {
  expect(passesSkippedAlone(mustParse(text))).toBe(expected);
});

test.each([
  ['11.0.15+gitea-1.22.0', true, true],
  ['16.0.0+gitea-1.22.0', true, true],
  ['1.22.0', true, false],
  ['1.24.6', true, false],
  ['1.25.3', true, false],
  ['1.25.4', false, false],
  ['1.26.4', false, false],
])(
  '%s merges into a tag of the name of the base: %s; its timelines come whole: %s',
  (text, merges, whole) => {
    expect(mergesIntoTag(mustParse(text))).toBe(merges);
    expect(givesWholeTimelines(mustParse(text))).toBe(whole);
  },
);

test.each([
  ['12.0.0+gitea-1.22.0', false],
  ['1.24.6', false],
  ['1.25.0', true],
  ['1.25.5', true],
  ['1.26.0', false],
])('%s shows its list of runs to owners alone: %s', (text, expected) => {
  expect(listsRunsForOwners(mustParse(text))).toBe(expected);
  expect(listsRunsForOwners(null)).toBe(true);
});

test.each([
  ['7.0.16+gitea-1.21.11', false],
  ['11.0.15+gitea-1.22.0', true],
  ['1.22.6', false],
  ['1.23.0', true],
  ['1.27.3', true],
])('%s tells which run is that of the gate workflow: %s', (text, expected) => {
  expect(tellsGateRuns(mustParse(text))).toBe(expected);
  expect(tellsGateRuns(null)).toBe(true);
});

test('of a forge whose version is not known the worse is expected', () => {
  expect(mergesIntoTag(null)).toBe(true);
  expect(givesWholeTimelines(null)).toBe(false);
});

test.each([
  ['gitea-actions', '1.26.4', true],
  ['Gitea-Actions', '16.0.0+gitea-1.22.0', true],
  ['gitea-actions', null, true],
  ['forgejo-actions', '16.0.0+gitea-1.22.0', true],
  // A name that a person may have there.
  ['forgejo-actions', '1.26.4', false],
  ['forgejo-actions', null, false],
  ['dev', '1.26.4', false],
])('%s on %s is the account of a job: %s', (login, version, expected) => {
  expect(isJobAccount(login, version === null ? null : mustParse(version))).toBe(expected);
});
