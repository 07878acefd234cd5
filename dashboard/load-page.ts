const RELOADED_AT = 'mergeyard.reloaded-at';
/** A page that cannot load its parts right after it was reloaded says so instead of starting over and over. */
const RELOAD_EVERY_MS = 60_000;

export interface Tab {
  /** As `sessionStorage`. */
  readonly storage: {
    getItem(key: string): string | null;
    setItem(key: string, value: string): void;
  };
  readonly reload: () => void;
  /** Does the service give its page out now? Without it, starting anew ends at an error page of the browser. */
  readonly isServed: () => Promise<boolean>;
  /** Epoch ms. */
  readonly now: () => number;
}

/**
 * A deployment takes the files of the one before away. A tab that still asks for one starts anew, at the same address, with the
 * files of today.
 */
export async function loadOrReload<Loaded>(load: () => Promise<Loaded>, tab: Tab): Promise<Loaded> {
  try {
    return await load();
  } catch (error) {
    if (tab.now() - Number(tab.storage.getItem(RELOADED_AT) ?? 0) < RELOAD_EVERY_MS) throw error;
    if (!(await tab.isServed())) throw error;
    tab.storage.setItem(RELOADED_AT, String(tab.now()));
    tab.reload();
    // The tab shows that it loads until the new page is there.
    return new Promise<never>(() => undefined);
  }
}
