import type { Tone } from '../../view/tone.ts';

const LAMP: Readonly<Record<Tone, number | null>> = {
  stop: 0,
  busy: 1,
  clear: 2,
  quiet: null,
  unknown: null,
};

/** A signal with three lamps: the place of the lit one says as much as its colour. */
export function Signal({ tone, size = 'small' }: { readonly tone: Tone; readonly size?: 'small' | 'large' }) {
  return (
    <svg
      className={`signal signal-${size} tone-${tone}`}
      viewBox="0 0 20 44"
      aria-hidden="true"
      focusable="false"
    >
      <rect className="signal-case" x="1" y="1" width="18" height="42" rx="9" />
      {[0, 1, 2].map((lamp) => (
        <circle
          key={lamp}
          className={LAMP[tone] === lamp ? 'signal-lit' : 'signal-dark'}
          cx="10"
          cy={10 + lamp * 12}
          r="4.4"
        />
      ))}
      {tone === 'unknown' && (
        <text className="signal-mark" x="10" y="27" textAnchor="middle">
          ?
        </text>
      )}
      {tone === 'quiet' && <path className="signal-mark-line" d="M5 22h10" />}
    </svg>
  );
}

const SHAPES: Readonly<Record<Tone | 'split', string>> = {
  split: 'M8 2v4.500M8 6.500c0 4-4.500 3.500-4.500 7.500M8 6.500c0 4 4.500 3.500 4.500 7.500',
  clear: 'M3.2 8.4l3 3 6.4-6.8',
  busy: 'M8 5v3.2l2.200 1.300M14.200 8a6.200 6.200 0 1 1-12.400 0a6.200 6.200 0 1 1 12.400 0',
  stop: 'M4.6 4.6l6.8 6.8M11.4 4.6l-6.8 6.8',
  quiet: 'M4 8h8',
  unknown: 'M6 6.2c0-2.8 4.2-2.7 4.2-.2 0 1.7-2.2 1.6-2.2 3.4M8 12v.2',
};

/** The small mark beside a word: a tick, a clock, a cross, a dash or a question mark. */
export function Mark({
  tone,
  shape = tone,
}: {
  readonly tone: Tone;
  readonly shape?: Tone | 'split' | undefined;
}) {
  return (
    <svg className={`mark tone-${tone}`} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={SHAPES[shape]} />
    </svg>
  );
}

export function Tag({
  tone,
  shape,
  children,
}: {
  readonly tone: Tone;
  readonly shape?: Tone | 'split' | undefined;
  readonly children: React.ReactNode;
}) {
  return (
    <span className={`tag tone-${tone}`}>
      <Mark tone={tone} shape={shape} />
      {children}
    </span>
  );
}
