import { FAKE_MEANS, openFake } from './forge/fake-subject.ts';
import { forgeSuite, PARTS_OF_ALL } from './forge.suite.ts';

jest.setTimeout(180_000);

// Long, because it sets up as much as the suites of the versions since, and what it adds is rarely touched.
forgeSuite('fake fj11', () => openFake('fj11'), [...PARTS_OF_ALL, 'faults'], FAKE_MEANS);

// Long, because more commits and pull requests than a page holds are made on real git.
forgeSuite('fake fj15', () => openFake('fj15'), ['long listings'], FAKE_MEANS);
