import { FAKE_MEANS, openFake } from './forge/fake-subject.ts';
import { forgeSuite } from './forge.suite.ts';

jest.setTimeout(180_000);

// Not in `npm test`, because a fake writes all of its state after each change, and these texts with it.
forgeSuite('fake fj15', () => openFake('fj15'), ['long texts'], FAKE_MEANS);
forgeSuite('fake gt126', () => openFake('gt126'), ['long texts'], FAKE_MEANS);
