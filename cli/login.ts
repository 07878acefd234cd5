import { createApiClient } from '#core/contracts/routes/client.ts';
import { isAnswer } from './answers.ts';
import { EXIT, emit } from './asked.ts';
import { type Call, printingOf } from './call.ts';
import { Misuse } from './context.ts';
import { checkAddress, checkToken, storeLogin } from './login-file.ts';
import { reach } from './reach.ts';

/** Reads the operand of `login`: the origin of the service. Throws `Misuse`. */
export function readAddress(text: string): string {
  if (!URL.canParse(text)) throw new Misuse('login takes the address of the service.');
  return checkAddress(text);
}

/** Stores the token on standard input, once the service has taken it. */
export async function login(call: Call, origin: string): Promise<number> {
  const { machine, readStdin } = call;
  const token = checkToken(await readStdin());
  if (token === '') throw new Misuse('The token is read from standard input, and there was none.');
  const api = createApiClient({ baseUrl: origin, readToken: () => token, fetch: reach(machine), isAnswer });
  await api.readQueueStatus();
  const file = storeLogin(machine, { url: origin, token });
  emit(printingOf(call), { stored: file }, () => [`Stored in ${file}`]);
  return EXIT.ok;
}
