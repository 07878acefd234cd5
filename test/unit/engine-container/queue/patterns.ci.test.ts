import { definePatternTests } from './patterns.suite.ts';

// One pull request more than in decide.test.ts doubles the time.
definePatternTests([5], [4]);
