import { type FreezeWindow, freezeAt, leavesTime, nextFreeze, WEEK_DAYS } from '#core/domain/repos/freeze.ts';
import { isTimeZone } from '#core/domain/zone.ts';

const EACH_DAY: FreezeWindow = {
  reason: 'night',
  days: WEEK_DAYS,
  from: '00:00',
  to: '24:00',
  first: null,
  last: null,
};
const given = (zone: string, ...windows: readonly Partial<FreezeWindow>[]) => ({
  freezeWindows: windows.map((window) => ({ ...EACH_DAY, ...window })),
  freezeTimeZone: zone,
  freezeExemptLabels: [],
});
const at = (time: string): number => Date.parse(time);
const shown = (freeze: ReturnType<typeof freezeAt>) =>
  freeze === null ? null : [new Date(freeze.since).toISOString(), new Date(freeze.until).toISOString()];

/** From Friday at 16:00 to Monday at 8:00, as three windows. */
const WEEKEND = [
  { days: ['fri'], from: '16:00' },
  { days: ['sat', 'sun'] },
  { days: ['mon'], to: '08:00' },
] as const;

describe('freeze windows', () => {
  test('without windows nothing is frozen, now or later', () => {
    expect([freezeAt(given('UTC'), 0), nextFreeze(given('UTC'), 0)]).toEqual([null, null]);
  });

  test('windows that follow on one another are one freeze, with the end of the last', () => {
    const settings = given('Europe/Berlin', ...WEEKEND);
    // 2026-11-27 is a Friday.
    expect(freezeAt(settings, at('2026-11-27T14:59:59Z'))).toBeNull();
    expect(shown(freezeAt(settings, at('2026-11-27T15:00:00Z')))).toEqual([
      '2026-11-27T15:00:00.000Z',
      '2026-11-30T07:00:00.000Z',
    ]);
    expect(shown(freezeAt(settings, at('2026-11-29T12:00:00Z')))?.[1]).toBe('2026-11-30T07:00:00.000Z');
    expect(freezeAt(settings, at('2026-11-30T07:00:00Z'))).toBeNull();
  });

  test('one that ends at an earlier time of the day ends on the next day', () => {
    const settings = given('America/New_York', { days: ['tue'], from: '22:00', to: '06:00' });
    expect(shown(freezeAt(settings, at('2026-11-25T05:00:00Z')))).toEqual([
      '2026-11-25T03:00:00.000Z',
      '2026-11-25T11:00:00.000Z',
    ]);
    expect(freezeAt(settings, at('2026-11-26T05:00:00Z'))).toBeNull();
  });

  test('dates are whole days of the zone, the last one included', () => {
    const settings = given('Pacific/Auckland', { first: '2026-12-24', last: '2027-01-03' });
    expect(freezeAt(settings, at('2026-12-23T10:59:59Z'))).toBeNull();
    const span = ['2026-12-23T11:00:00.000Z', '2027-01-03T11:00:00.000Z'];
    expect(shown(freezeAt(settings, at('2026-12-23T11:00:00Z')))).toEqual(span);
    expect(shown(nextFreeze(settings, at('2026-06-01T00:00:00Z')))).toEqual(span);
    expect(nextFreeze(settings, at('2027-01-03T11:00:00Z'))).toBeNull();
  });

  test.each([
    // 2026-03-29: clocks of Berlin go from 02:00 to 03:00. 2026-10-25: from 03:00 back to 02:00.
    ['begins in the hour that is skipped', '02:30', '05:00', '2026-03-29T00:30Z', '2026-03-29T03:00Z'],
    ['ends in the hour that is skipped', '00:00', '02:30', '2026-03-28T23:00Z', '2026-03-29T01:30Z'],
    ['begins in the hour that comes twice', '02:30', '05:00', '2026-10-25T00:30Z', '2026-10-25T04:00Z'],
    ['ends in the hour that comes twice', '00:00', '02:30', '2026-10-24T22:00Z', '2026-10-25T01:30Z'],
    ['lasts over the change to summer time', '01:00', '04:00', '2026-03-29T00:00Z', '2026-03-29T02:00Z'],
    ['lasts over the change to winter time', '01:00', '04:00', '2026-10-24T23:00Z', '2026-10-25T03:00Z'],
  ])('one that %s is the longer one of the two it may be', (_, from, to, since, until) => {
    const settings = given('Europe/Berlin', { days: ['sun'], from, to });
    const span = [new Date(at(since)).toISOString(), new Date(at(until)).toISOString()];
    expect(shown(freezeAt(settings, at(since)))).toEqual(span);
    expect(freezeAt(settings, at(until))).toBeNull();
  });

  test('the next one of a weekly window is found on any day of the week, also later on its own day', () => {
    const settings = given('Asia/Kolkata', { days: ['wed'], from: '10:00', to: '11:00' });
    for (let day = 0; day < 7; day += 1) {
      const next = nextFreeze(settings, at('2026-11-25T06:00:00Z') + day * 86_400_000);
      expect(shown(next)?.[0]).toBe('2026-12-02T04:30:00.000Z');
    }
    expect(shown(nextFreeze(settings, at('2026-11-25T04:00:00Z')))?.[0]).toBe('2026-11-25T04:30:00.000Z');
  });

  test('days of half an hour of summer time count as well', () => {
    const settings = given('Australia/Lord_Howe', { days: ['sun'], from: '00:00', to: '04:00' });
    // 2026-10-04: clocks go from 02:00 to 02:30.
    expect(shown(freezeAt(settings, at('2026-10-03T14:00:00Z')))).toEqual([
      '2026-10-03T13:30:00.000Z',
      '2026-10-03T17:00:00.000Z',
    ]);
  });

  test.each([
    ['America/Santiago', '2026-09-06', '2026-09-06T04:00Z'],
    ['Africa/Cairo', '2026-04-24', '2026-04-23T22:00Z'],
    ['America/Havana', '2026-03-08', '2026-03-08T05:00Z'],
    ['Asia/Beirut', '2026-03-29', '2026-03-28T22:00Z'],
    ['Atlantic/Azores', '2026-03-29', '2026-03-29T01:00Z'],
  ])(
    'a window at midnight in %s, where summer time of %s skips midnight, is told before and holds',
    (zone, first, change) => {
      const day = WEEK_DAYS[(new Date(first).getUTCDay() + 6) % 7] ?? 'sun';
      for (const dates of [{}, { first, last: first }]) {
        const settings = given(zone, { days: [day], from: '00:00', to: '06:00', ...dates });
        const skipped = at(change);
        const until = skipped + 5 * 3_600_000;
        const span = [skipped - 3_600_000, until].map((time) => new Date(time).toISOString());
        for (let before = 30; before >= 0; before -= 1)
          expect(shown(nextFreeze(settings, until - 1 - before * 3_600_000))).toEqual(span);
        expect(shown(freezeAt(settings, at(span[0] ?? '')))).toEqual(span);
        expect(freezeAt(settings, at(span[0] ?? '') - 1)).toBeNull();
        expect(freezeAt(settings, until)).toBeNull();
      }
    },
  );

  test.each(['America/Nuuk', 'America/Scoresbysund'])(
    'a window of a whole day holds to its end in %s, where summer time skips the last hour of the day',
    (zone) => {
      const settings = given(zone, { days: ['fri'], from: '23:30', to: '23:30' });
      const span = ['2026-03-28T01:30:00.000Z', '2026-03-29T01:30:00.000Z'];
      expect(shown(freezeAt(settings, at('2026-03-28T01:30Z')))).toEqual(span);
      expect(shown(freezeAt(settings, at('2026-03-29T01:29Z')))).toEqual(span);
      expect(freezeAt(settings, at('2026-03-29T01:30Z'))).toBeNull();
    },
  );

  test('windows without dates that leave no minute of the week are told from those that do', () => {
    expect(leavesTime([EACH_DAY])).toBe(false);
    expect(leavesTime([{ ...EACH_DAY, from: '00:01' }])).toBe(true);
    expect(leavesTime([{ ...EACH_DAY, from: '12:00', to: '12:00' }])).toBe(false);
    expect(leavesTime([{ ...EACH_DAY, first: '2026-12-24', last: '2027-01-03' }])).toBe(true);
  });

  test.each([
    ['Europe/Berlin', true],
    ['UTC', true],
    ['+01:00', false],
    ['Mars/Olympus', false],
    ['', false],
  ])('%j as a time zone: %s', (name, expected) => {
    expect(isTimeZone(name)).toBe(expected);
  });
});

describe('freeze windows that a stranger may set are found without much asking of clocks', () => {
  /** Twelve windows that follow on one another day and night. */
  const CHAINED = given(
    'America/New_York',
    ...Array.from({ length: 12 }, (_, nth) => ({
      from: `${String(2 * nth).padStart(2, '0')}:00`,
      to: `${String((2 * nth + 5) % 24).padStart(2, '0')}:00`,
      first: '2026-01-01',
      last: '2026-12-31',
    })),
  );
  const NOW = at('2026-06-05T12:00:00Z');
  const DAYS_FOLLOWED_MAX = 16;
  /** Two ends, and to find one clocks are asked four times. */
  const ASKED_OF_WINDOW = 2 * 4;
  const ASKED_MAX = DAYS_FOLLOWED_MAX * 12 * ASKED_OF_WINDOW;
  let asked = 0;

  beforeEach(() => {
    const { formatToParts } = Intl.DateTimeFormat.prototype;
    asked = 0;
    jest.spyOn(Intl.DateTimeFormat.prototype, 'formatToParts').mockImplementation(function (
      this: Intl.DateTimeFormat,
      ...args
    ) {
      asked += 1;
      return formatToParts.apply(this, args);
    });
  });
  afterEach(() => jest.restoreAllMocks());

  test('the windows of a day are worked out once, however many of them follow on one another', () => {
    expect(freezeAt({ ...CHAINED }, NOW)?.reason).toBe('night');
    expect(asked).toBeLessThan(ASKED_MAX);
  });

  test('a queue that asks for each of its pull requests is answered as the first time', () => {
    const settings = { ...CHAINED };
    const first = freezeAt(settings, NOW);
    const before = asked;
    for (let pr = 0; pr < 100; pr += 1) expect(freezeAt(settings, NOW)).toBe(first);
    expect(asked).toBe(before);
    expect(freezeAt(settings, at('2027-06-05T12:00:00Z'))).toBeNull();
  });
});
