import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readCommandLine, readPort, refuseCall, runProgram } from '#core/adapters/system/command-line.ts';
import { createFakeForge, type FakeForge } from './fake-forge.ts';
import { BOT, OWNER, PERSON } from './people.ts';
import { PROFILE_NAMES, type ProfileName } from './profiles.ts';

const USAGE = `usage: tsx local/forge/main.ts --data DIR [--port N] [--https-port N] [--profile ${PROFILE_NAMES.join('|')}]

--data DIR        state and repositories, kept from start to start
--port N          plain HTTP for people, git and the pages; default 3000, 0 = any
--https-port N    HTTPS for programs that ask for it; default 3443, 0 = any
--profile NAME    which forge and version to be; default fj15
--judge           runs succeed at once instead of executing their steps
`;

async function main(): Promise<number> {
  const options = {
    data: { type: 'string' },
    port: { type: 'string', default: '3000' },
    'https-port': { type: 'string', default: '3443' },
    profile: { type: 'string', default: 'fj15' },
    judge: { type: 'boolean', default: false },
  } as const;
  const { values } = readCommandLine(options, USAGE);
  const profile = PROFILE_NAMES.find((name): name is ProfileName => name === values.profile);
  if (values.data === undefined) refuseCall(USAGE, '--data is missing.');
  if (profile === undefined) refuseCall(USAGE, `--profile takes ${PROFILE_NAMES.join(', ')}.`);
  const forge = createFakeForge({
    dataDir: values.data,
    profile,
    httpPort: readPort('--port', values.port, USAGE),
    httpsPort: readPort('--https-port', values['https-port'], USAGE),
    knobs: { gate: values.judge ? 'judge' : 'run' },
  });
  const address = await forge.start();
  const tokens = Object.entries(loadTokens(forge, values.data)).map(
    ([login, token]) => `  ${login.padEnd(8)} ${token}`,
  );
  process.stdout.write(
    [
      `Forge ${forge.profile.kind} ${forge.profile.version}`,
      `  pages and git  ${address.httpUrl}`,
      `  API over TLS   ${address.httpsUrl}`,
      `  trust with     NODE_EXTRA_CA_CERTS=${address.caFile}`,
      'Tokens (for git: the password):',
      ...tokens,
      '',
    ].join('\n'),
  );
  const stop = (): void => {
    void forge.stop().then(() => process.exit(0));
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  return 0;
}

/** The same tokens at every start, so that a connection made once goes on working. */
function loadTokens(forge: FakeForge, dataDir: string): Readonly<Record<string, string>> {
  const file = join(dataDir, 'tokens.json');
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
  const tokens = Object.fromEntries(
    [BOT, PERSON, OWNER].map((login) => [login, forge.addToken(login, ['all'])]),
  );
  writeFileSync(file, JSON.stringify(tokens), { mode: 0o600 });
  return tokens;
}

/** Port 3000, which is asked for unless another one is named, often has a program already. */
function explain(error: unknown): unknown {
  const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
  return isTaken ? `${error.message}: name another port with --port or --https-port.` : error;
}

runProgram(main, explain);
