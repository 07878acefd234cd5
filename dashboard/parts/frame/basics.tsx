import { useEffect, useId, useRef, useState } from 'react';
import { Link } from 'wouter';
import { useNow } from '../../data/hooks.ts';
import { safeUrl, showAgo, showFullTime, showText } from '../../view/format.ts';
import type { Tone } from '../../view/tone.ts';
import { useFault } from './fault.ts';

/** Text of another person, shown as one line: markup and characters that change the direction have no effect (A117). */
export function Foreign({
  text,
  className,
  most,
}: {
  readonly text: string;
  readonly className?: string;
  /** Letters that are shown; the whole, cut at its own bound, stands in the tooltip. */
  readonly most?: number;
}) {
  const shown = showText(text, most);
  return (
    <bdi
      className={`foreign${className === undefined ? '' : ` ${className}`}`}
      title={shown.length > 60 ? showText(text) : undefined}
    >
      {shown === '' ? '(no title)' : shown}
    </bdi>
  );
}

/** A link that leaves the page; plain text when its address is none. */
export function Outward({
  href,
  children,
  label,
  className,
}: {
  readonly href: string | null;
  readonly children: React.ReactNode;
  readonly label?: string;
  readonly className?: string;
}) {
  const url = safeUrl(href);
  if (url === null) return <span className={className}>{children}</span>;
  return (
    <a
      className={`outward ${className ?? ''}`}
      href={url}
      target="_blank"
      rel="noreferrer noopener"
      aria-label={label}
    >
      {children}
      <svg className="outward-mark" viewBox="0 0 12 12" aria-hidden="true" focusable="false">
        <path d="M4 2.5h5.500v5.500M9.300 2.700L3 9" />
      </svg>
    </a>
  );
}

export function Ago({ iso }: { readonly iso: string | null }) {
  const now = useNow();
  return (
    <time dateTime={iso ?? undefined} title={showFullTime(iso)}>
      {showAgo(iso, now)}
    </time>
  );
}

/** The title of the document: a person with twenty tabs finds this one. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Mergeyard`;
  }, [title]);
}

const ICON = '/favicon.svg';

/** The icon of the tab shows the state of its repository; null: it has none to show. */
export function useTabIcon(tone: Tone | null): void {
  useEffect(() => {
    const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
    if (link === null) return;
    link.href = tone === 'stop' || tone === 'busy' ? `/favicon-${tone}.svg` : ICON;
    return () => {
      link.href = ICON;
    };
  }, [tone]);
}

export function PageHead({
  title,
  children,
  lead,
}: {
  readonly title: React.ReactNode;
  readonly lead?: React.ReactNode;
  readonly children?: React.ReactNode;
}) {
  return (
    <header className="page-head">
      <div>
        <h1 tabIndex={-1}>{title}</h1>
        {lead !== undefined && <p className="lead">{lead}</p>}
      </div>
      {children !== undefined && <div className="page-actions">{children}</div>}
    </header>
  );
}

export function Loading({ what }: { readonly what: string }) {
  return (
    <p className="loading" role="status">
      <span className="rail-spinner" aria-hidden="true" />
      Reading {what}…
    </p>
  );
}

export function Empty({ title, children }: { readonly title: string; readonly children?: React.ReactNode }) {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children}
    </div>
  );
}

export function Button({
  kind = 'plain',
  busy = false,
  children,
  ...rest
}: React.ButtonHTMLAttributes<HTMLButtonElement> & {
  readonly kind?: 'plain' | 'main' | 'danger' | 'quiet';
  readonly busy?: boolean;
}) {
  return (
    <button
      type="button"
      {...rest}
      className={`button button-${kind}`}
      disabled={rest.disabled === true || busy}
      aria-busy={busy || undefined}
    >
      {busy && <span className="rail-spinner" aria-hidden="true" />}
      {children}
    </button>
  );
}

export function ButtonLink({
  to,
  kind = 'plain',
  children,
}: {
  readonly to: string;
  readonly kind?: 'plain' | 'main' | 'quiet';
  readonly children: React.ReactNode;
}) {
  return (
    <Link href={to} className={`button button-${kind}`}>
      {children}
    </Link>
  );
}

/** A field with its label, its limits in words, and its own refusal. */
/** `names`: those that the service, or a code of it, has for the value (`FailedCall`). */
export function Field({
  label,
  hint,
  error: given = null,
  names = [],
  children,
}: {
  readonly label: string;
  readonly hint?: React.ReactNode;
  readonly error?: string | null;
  readonly names?: readonly string[];
  readonly children: (ids: {
    readonly id: string;
    readonly 'aria-describedby': string | undefined;
    readonly 'aria-invalid': boolean | undefined;
  }) => React.ReactNode;
}) {
  const id = useId();
  const fault = useFault(names);
  const error = given ?? fault?.words;
  const failed = fault?.error ?? null;
  useEffect(() => {
    if (failed !== null) document.getElementById(id)?.focus();
  }, [failed, id]);
  const described = [hint === undefined ? '' : `${id}-hint`, error ? `${id}-error` : '']
    .filter((each) => each !== '')
    .join(' ');
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        'aria-describedby': described === '' ? undefined : described,
        'aria-invalid': error ? true : undefined,
      })}
      {hint !== undefined && (
        <p className="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error && (
        <p className="field-error" id={`${id}-error`} role="alert">
          {error}
        </p>
      )}
    </div>
  );
}

/** A question before something that cannot be taken back. The browser's own dialog: focus stays in, Escape leaves. */
export function Confirm({
  open,
  title,
  children,
  onClose,
}: {
  readonly open: boolean;
  readonly title: string;
  readonly children: React.ReactNode;
  readonly onClose: () => void;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const element = dialog.current;
    if (element === null || element.open === open) return;
    if (!open) return element.close();
    element.showModal();
    // The last button changes nothing: a key that is pressed too early does no harm.
    [...element.querySelectorAll('button')].at(-1)?.focus();
  }, [open]);
  return (
    <dialog ref={dialog} className="confirm" aria-labelledby={id} onClose={onClose}>
      <h2 id={id}>{title}</h2>
      {open && children}
    </dialog>
  );
}

/** A text to be copied whole: an id, a token's name, a file. */
export function Copy({ text, label }: { readonly text: string; readonly label: string }) {
  const [copied, setCopied] = useState(false);
  return (
    <Button
      kind="quiet"
      aria-label={copied ? 'Copied' : label}
      onClick={() => {
        void navigator.clipboard?.writeText(text).then(() => setCopied(true));
      }}
    >
      {copied ? 'Copied' : 'Copy'}
    </Button>
  );
}
