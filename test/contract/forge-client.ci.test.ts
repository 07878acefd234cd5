import { FAKE_MEANS, openFake } from './forge/fake-subject.ts';
import { forgeSuite } from './forge.suite.ts';

jest.setTimeout(180_000);

// Not in `npm test`, because a fake writes all of its state after each change, and these texts with it.
forgeSuite('fake fj15', () => openFake('fj15'), ['long texts'], FAKE_MEANS);
forgeSuite('fake gt126', () => openFake('gt126'), ['long texts'], FAKE_MEANS);

// The first version that can cancel a run; it is as its predecessor in all else that we call.
forgeSuite('fake fj16', () => openFake('fj16'), ['gate'], FAKE_MEANS);
// The version that shows its list of runs to owners alone, which the bot is not.
forgeSuite('fake gt125', () => openFake('gt125'), ['gate'], FAKE_MEANS);
// The first version that runs workflows of other repositories here.
forgeSuite('fake gt127', () => openFake('gt127'), ['gate'], FAKE_MEANS);
