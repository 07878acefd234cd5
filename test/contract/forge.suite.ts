import { adminSuite } from './forge/admin.suite.ts';
import { faultsSuite } from './forge/faults.suite.ts';
import { filesSuite } from './forge/files.suite.ts';
import { gateSuite } from './forge/gate.suite.ts';
import { gitSuite } from './forge/git.suite.ts';
import { landingSuite } from './forge/landing.suite.ts';
import { longListingsSuite } from './forge/long-listings.suite.ts';
import { longTextsSuite } from './forge/long-texts.suite.ts';
import { patchSuite } from './forge/patch.suite.ts';
import { pullsSuite } from './forge/pulls.suite.ts';
import { rulesSuite } from './forge/rules.suite.ts';
import type { ForgeSubject, Means, Needs } from './forge/subject.ts';
import { webhooksSuite } from './forge/webhooks.suite.ts';

const PARTS = {
  git: gitSuite,
  'pull requests': pullsSuite,
  rules: rulesSuite,
  patches: patchSuite,
  files: filesSuite,
  gate: gateSuite,
  landing: landingSuite,
  webhooks: webhooksSuite,
  'set-up': adminSuite,
  /** Listings longer than a page, which take a hundred calls to set up. */
  'long listings': longListingsSuite,
  'long texts': longTextsSuite,
  faults: faultsSuite,
} as const;
export type ForgeSuitePart = keyof typeof PARTS;

/** What every forge is held to, in memory or real. */
export const PARTS_OF_ALL = [
  'git',
  'pull requests',
  'rules',
  'patches',
  'files',
  'gate',
  'landing',
  'webhooks',
  'set-up',
] as const satisfies readonly ForgeSuitePart[];

/** Every call of our client against one forge over HTTPS, so that a fake cannot drift from a real one. */
export function forgeSuite(
  name: string,
  open: () => Promise<ForgeSubject>,
  parts: readonly ForgeSuitePart[],
  means: readonly Means[],
): void {
  const needs: Needs = (one) => (means.includes(one) ? test : test.skip);
  describe(name, () => {
    let opened: ForgeSubject | undefined;
    const subject = (): ForgeSubject => {
      if (opened === undefined) throw new Error('the forge is not open');
      return opened;
    };

    beforeAll(async () => {
      opened = await open();
    });
    afterAll(() => opened?.stop());

    for (const part of parts) describe(part, () => PARTS[part](subject, needs));
  });
}
