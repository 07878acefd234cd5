import { readFileSync, writeFileSync } from 'node:fs';
import { ConfigError } from '../../../onebox/config.ts';
import { openOwn } from '../../../onebox/own-files.ts';

test.each<[string, () => unknown, RegExp]>([
  [
    'a full disk',
    () => writeFileSync('/dev/full', 'x'),
    /cannot be read and written: ENOSPC.* the space on its disk\.$/,
  ],
  ['no rights', () => readFileSync('/proc/1/mem'), /cannot be read and written: E[A-Z]+.*Check its rights/],
  ['what is no session', () => JSON.parse('{'), /is damaged: remove it: people sign in again\.$/],
])('a file of the data folder with %s is told in one line', (_what, open, words) => {
  expect(() => openOwn('sessions.json', open)).toThrow(ConfigError);
  expect(() => openOwn('sessions.json', open)).toThrow(words);
});
