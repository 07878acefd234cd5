/**
 * In the sandbox of a test file each look at a global goes the long way, through its context. These are handed to every
 * module as parameters instead, which takes a quarter off what computes. Only such as no test puts another one in place
 * of, and no module that is loaded declares anew: that would be a syntax error, as it is for URL and Buffer.
 */
const PLAIN_GLOBALS = [
  ...['Array', 'BigInt', 'Boolean', 'Error', 'JSON', 'Map', 'Math', 'Number', 'Object', 'Promise', 'Proxy'],
  ...['RangeError', 'Reflect', 'RegExp', 'Set', 'String', 'Symbol', 'TypeError', 'Uint8Array', 'WeakMap'],
  'WeakSet',
];

/** The page, mounted in a document without a browser. */
const PAGE = [
  '@swc/jest',
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
  transform: { '\\.(ts|mjs|js)$': '@swc/jest', '\\.tsx$': PAGE },
  // These are published as ES modules only.
  transformIgnorePatterns: ['/node_modules/(?!@middy/|fauxqs/|@seriousme/|jose/|wouter/|@bomb\\.sh/)'],
  sandboxInjectedGlobals: PLAIN_GLOBALS,
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
