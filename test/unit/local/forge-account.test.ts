import { Readable } from 'node:stream';
import { parseOptions } from '../../../local/demo/options.ts';
import { fateOfPair } from '../../../local/demo/story.ts';
import { readForgeTokens, readRealForge } from '../../../local/forge-account.ts';

const input = (text: string, isTTY = false) => Object.assign(Readable.from([text]), { isTTY });

describe('the token of a real forge', () => {
  test('is never taken from the command line, which every list of processes shows', () => {
    for (const argv of [
      ['--forge', 'https://git.example.org', '--token', 's3cret'],
      ['--forge', 'https://git.example.org', '--token=s3cret'],
    ]) {
      expect(() => parseOptions(argv)).toThrow(/--token is not taken.*FORGE_TOKEN/s);
      expect(() => parseOptions(argv)).not.toThrow(/s3cret/);
    }
    expect(() => readRealForge('https://bot:s3cret@git.example.org', undefined)).toThrow(
      /no user or password/,
    );
  });

  test('comes from the environment, and owner and author are the bot where they have no account', async () => {
    expect(await readForgeTokens({ FORGE_TOKEN: 'b' }, input('other\n'))).toEqual({
      bot: 'b',
      owner: 'b',
      author: 'b',
    });
    expect(await readForgeTokens({ FORGE_TOKEN: 'b', FORGE_OWNER_TOKEN: 'o' }, input(''))).toEqual({
      bot: 'b',
      owner: 'o',
      author: 'o',
    });
    const all = { FORGE_TOKEN: ' b\n', FORGE_OWNER_TOKEN: 'o', FORGE_PERSON_TOKEN: 'p' };
    expect(await readForgeTokens(all, input(''))).toEqual({ bot: 'b', owner: 'o', author: 'p' });
  });

  test('or is the first line of standard input, unless that is a terminal', async () => {
    expect((await readForgeTokens({}, input('piped\nmore\n'))).bot).toBe('piped');
    expect((await readForgeTokens({ FORGE_TOKEN: '' }, input('no newline'))).bot).toBe('no newline');
    await expect(readForgeTokens({}, input('', false))).rejects.toThrow(/no token: set FORGE_TOKEN/);
    await expect(readForgeTokens({}, input('typed\n', true))).rejects.toThrow(/no token: set FORGE_TOKEN/);
  });
});

test('a real forge has an https address, and an authority only with it', () => {
  expect(readRealForge(undefined, undefined)).toBeNull();
  expect(readRealForge('https://git.example.org/sub/', 'ca.pem')).toEqual({
    url: 'https://git.example.org/sub',
    caFile: 'ca.pem',
  });
  expect(() => readRealForge('http://git.example.org', undefined)).toThrow(/https/);
  expect(() => readRealForge(undefined, 'ca.pem')).toThrow(/goes with --forge/);
});

test.each([
  ['lands', 'bounced', 'lands'],
  ['bounced', 'lands', 'bounced'],
  ['lands', 'lands', 'lands'],
  ['bounced', 'bounced', 'lands'],
  ['open', 'lands', 'lands'],
] as const)(
  'of two that fail together one lands: %s beside %s, so the first must be %s',
  (own, other, expected) => {
    const fates = new Map([
      ['a', own],
      ['b', other],
    ]);
    expect(fateOfPair({ branch: 'a', fate: 'lands', partner: 'b' }, fates)).toBe(expected);
  },
);
