import { type ComponentType, lazy } from 'react';
import { loadOrReload } from './load-page.ts';

/** Parts that are loaded when they are first shown, or ahead of that. */
const loaders: (() => Promise<unknown>)[] = [];

/** A page whose code comes in a file of its own. */
// biome-ignore lint/suspicious/noExplicitAny: the props of any page; each use is checked against those of its own
export function laterPage<Page extends ComponentType<any>>(load: () => Promise<Page>) {
  loaders.push(load);
  return lazy(async () => {
    const tab = { storage: sessionStorage, reload: () => location.reload(), now: Date.now };
    return { default: await loadOrReload(load, { ...tab, isServed }) };
  });
}

async function isServed(): Promise<boolean> {
  const answer = await fetch('/', { cache: 'no-store' }).catch(() => null);
  return answer?.ok === true;
}

/** Loads every part, so that an open tab asks for none after a deployment. A part that fails is tried again when it is shown. */
export async function loadAhead(): Promise<void> {
  for (const load of loaders) await load().catch(() => undefined);
}
