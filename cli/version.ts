/** The version of `package.json`; a test compares the two, because the built program is one file without it. */
export const VERSION = '0.1.0';
