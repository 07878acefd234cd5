import { definePatternTests } from './patterns.suite.ts';

jest.setTimeout(180_000);

// Long: one pull request more doubles the time.
definePatternTests([6], [5]);
