/**
 * Moves the focus to the heading of a page, as soon as it is there: a page that is read from the service first has none.
 * Where a person has moved the focus meanwhile it stays there. Returns what ends the wait.
 */
export function focusHeading(main: HTMLElement): () => void {
  const before = document.activeElement;
  const move = (): boolean => {
    const heading = main.querySelector<HTMLElement>('h1');
    const now = document.activeElement;
    if (heading !== null && (now === before || now === document.body)) heading.focus();
    return heading !== null;
  };
  if (move()) return () => undefined;
  const observer = new MutationObserver(() => {
    if (move()) observer.disconnect();
  });
  observer.observe(main, { childList: true, subtree: true });
  return () => observer.disconnect();
}
