const SOURCE = '<rootDir>/test/support/plain-exports.cjs';

/** The page, mounted in a document without a browser. */
const PAGE = [
  SOURCE,
  {
    jsc: {
      parser: { syntax: 'typescript', tsx: true },
      transform: { react: { runtime: 'automatic' } },
    },
  },
];

const COMMON = {
  // One for all: with an id each, a file that several projects load is translated and stored once for every one of them.
  id: 'mergeyard',
  rootDir: __dirname,
  transform: { '\\.(ts|mjs|js)$': SOURCE, '\\.tsx$': PAGE },
  // These are published as ES modules only.
  transformIgnorePatterns: ['/node_modules/(?!@middy/|fauxqs/|@seriousme/|jose/|wouter/|@bomb\\.sh/)'],
  testEnvironment: '<rootDir>/test/support/one-context.cjs',
};

function project(displayName, folders = [displayName]) {
  return {
    ...COMMON,
    displayName,
    testMatch: folders.flatMap((folder) => [
      `<rootDir>/test/${folder}/**/*.test.ts`,
      `<rootDir>/test/${folder}/**/*.test.tsx`,
    ]),
  };
}

module.exports = {
  projects: [
    project('architecture'),
    project('unit'),
    project('contract'),
    project('scenario'),
    project('simulation', ['simulation', 'model']),
    project('cdk'),
    project('demo'),
  ],
  globalSetup: '<rootDir>/test/support/scratch-in-memory.cjs',
  testSequencer: '<rootDir>/test/support/longest-first.cjs',
  reporters: ['default', '<rootDir>/test/support/tally-reporter.cjs'],
  // One more than the cores of the machine that this is measured on: what starts services waits for them half of its time.
  maxWorkers: 3,
};
