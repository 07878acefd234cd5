import { readCommandLine, readPort, refuseCall, runProgram } from '#core/adapters/system/command-line.ts';

const OPTIONS = { config: { type: 'string' }, flag: { type: 'boolean' } } as const;
const argv = process.argv;

function given(...words: readonly string[]): void {
  process.argv = [...argv.slice(0, 2), ...words];
}

afterEach(() => {
  process.argv = argv;
  process.exitCode = undefined;
  jest.restoreAllMocks();
});

test.each([
  [['--config'], "Option '--config <value>' argument missing."],
  [['--flag=x'], "Option '--flag' does not take an argument."],
  [['--config', '--flag'], "Option '--config' argument is ambiguous."],
  [['mergeyard.yml'], "Unexpected argument 'mergeyard.yml'."],
])('a call with %j is told in one sentence, and how it is called', (words, says) => {
  given(...words);
  expect(() => readCommandLine(OPTIONS, 'usage')).toThrow(`${says}\n\nusage`);
});

test('words that are no options are read where a program takes them', () => {
  given('invite', '--config', 'x');
  expect(readCommandLine(OPTIONS, 'usage', true)).toMatchObject({
    values: { config: 'x' },
    positionals: ['invite'],
  });
});

test.each(['abc', '70000', '-1', '1.5', ''])(
  '%j is told as no port, with the option that takes one',
  (text) => {
    expect(() => readPort('--port', text, 'usage')).toThrow('--port takes a port from 0 to 65535.\n\nusage');
  },
);

test('a port is read, also the one that stands for any', () => {
  expect(['0', '8787', '65535'].map((text) => readPort('--port', text, 'usage'))).toEqual([0, 8787, 65_535]);
});

describe('a program ends', () => {
  /** Lines of standard output, lines of standard error, and the exit code. */
  async function ending(main: () => Promise<number>, failureCode?: number): Promise<unknown> {
    const out = jest.spyOn(console, 'log').mockReturnValue();
    const err = jest.spyOn(console, 'error').mockReturnValue();
    runProgram(main, () => 'it failed', failureCode);
    await new Promise(setImmediate);
    const code = process.exitCode;
    process.exitCode = undefined;
    return [out.mock.calls.flat(), err.mock.calls.flat(), code];
  }

  test('with its answer', async () => {
    expect(await ending(async () => 3)).toEqual([[], [], 3]);
  });

  test('with its usage and 2 where the call is not understood, whatever a failure has', async () => {
    const main = async () => refuseCall('usage');
    expect(await ending(main, 7)).toEqual([[], ['usage'], 2]);
  });

  test('with its usage and 0 where that is asked for, also beside an option that it does not know', async () => {
    given('--confg', '--help');
    const main = async () => Number(readCommandLine(OPTIONS, 'usage').values.config);
    expect(await ending(main)).toEqual([['usage'], [], 0]);
  });

  test('with words for a failure', async () => {
    const main = () => Promise.reject(new Error('secret'));
    expect(await ending(main, 2)).toEqual([[], ['it failed'], 2]);
  });
});
