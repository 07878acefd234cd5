import { createSystemClock } from '#core/adapters/system/clock.ts';
import { formatPong } from '#core/contracts/realtime/realtime.ts';
import { SocketDefaultEnv } from './env.ts';

SocketDefaultEnv.parse(process.env);
const clock = createSystemClock();

/** Clients have nothing to say but that they are there; what they sent is not looked at. */
export const handler = async (): Promise<{ readonly statusCode: number; readonly body: string }> => ({
  statusCode: 200,
  body: formatPong(clock.now()),
});
