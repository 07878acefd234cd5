/** Text that is HTML already. Everything else is escaped when it enters a template. */
export class Markup {
  constructor(readonly text: string) {}
}

type Value = Markup | string | number | null | false | readonly Value[];

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function render(value: Value): string {
  if (value instanceof Markup) return value.text;
  if (value === null || value === false) return '';
  if (typeof value === 'object') return value.map(render).join('');
  return String(value).replace(/[&<>"']/g, (char) => ESCAPES[char] ?? char);
}

export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Markup {
  return new Markup(strings.reduce((out, text, at) => out + render(values[at - 1] ?? null) + text));
}

export const STYLE = `
:root { color-scheme: light dark; --line: #8884; --good: #1a7f37; --bad: #c62828; --wait: #9a6700; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem; }
header { border-bottom: 1px solid var(--line); margin-bottom: 1rem; padding-bottom: .5rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; }
td, th { text-align: left; padding: .35rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
code, pre { font: 13px/1.45 ui-monospace, monospace; }
pre { overflow-x: auto; border: 1px solid var(--line); border-radius: 6px; padding: .8rem; }
.good { color: var(--good); } .bad { color: var(--bad); } .wait { color: var(--wait); } .dim { opacity: .7; }
form { display: inline-flex; flex-wrap: wrap; gap: .5rem; align-items: center; margin: .25rem .5rem .25rem 0; }
button, input, select { font: inherit; padding: .25rem .6rem; }
:focus-visible { outline: 2px solid #0969da; outline-offset: 2px; }
@media (prefers-color-scheme: dark) { :root { --good: #3fb950; --bad: #ff7b72; --wait: #d29922; } }
`;

export function page(title: string, trail: Value, body: Markup): string {
  return html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="stylesheet" href="/-/forge.css">
</head>
<body>
<header><nav aria-label="Breadcrumb"><a href="/">Local forge</a>${trail}</nav></header>
<main>
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`.text;
}

const TONES: Readonly<Record<string, string>> = {
  success: 'good',
  merged: 'good',
  open: 'good',
  mergeable: 'good',
  failure: 'bad',
  error: 'bad',
  conflict: 'bad',
  cancelled: 'bad',
  pending: 'wait',
  waiting: 'wait',
  running: 'wait',
  checking: 'wait',
};

/** The word carries the meaning, the colour only helps. */
export function badge(state: string): Markup {
  return html`<span class="${TONES[state] ?? 'dim'}">${state}</span>`;
}
