import { FAKE_MEANS, openFake } from './forge/fake-subject.ts';
import { openReal } from './forge/real-subject.ts';
import type { Means } from './forge/subject.ts';
import { forgeSuite, PARTS_OF_ALL } from './forge.suite.ts';

// A real forge answers in its own time, and the longest test opens more than fifty pull requests; on two cores with other
// work beside it that takes more than three minutes.
jest.setTimeout(600_000);

// The oldest version, fj11, and long listings are in the suites of the long command, long texts and versions that differ in their gate
// alone in that of `npm run test:ci`.
forgeSuite('fake fj15', () => openFake('fj15'), [...PARTS_OF_ALL, 'faults'], FAKE_MEANS);
forgeSuite('fake gt126', () => openFake('gt126'), [...PARTS_OF_ALL, 'faults'], FAKE_MEANS);

// With a real forge at hand the same suite holds the fake to it: see docs/forge-facts.md.
const { env } = process;
if (env.FORGE_URL !== undefined && env.FORGE_TOKEN !== undefined) {
  const means: Means[] = [];
  if (env.FORGE_PERSON_TOKEN !== undefined) means.push('person');
  if (env.FORGE_READER_TOKEN !== undefined) means.push('reader');
  if (env.FORGE_RUNNER === '1') means.push('runner');
  if (env.FORGE_SCOPED_TOKEN !== undefined) means.push('scoped');
  // The forge's `[webhook] ALLOWED_HOST_LIST` has to have loopback in it.
  if (env.FORGE_WEBHOOKS === '1') means.push('webhooks');
  forgeSuite('real forge', () => openReal(env), [...PARTS_OF_ALL, 'long listings', 'long texts'], means);
}
