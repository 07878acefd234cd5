import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';

/**
 * A port whose process stands still with a full line of callers: the kernel drops the next one's first packet, which is
 * sent again a second later. After `stillMs` it passes on to `target`.
 */
export async function startSlowPort(target: number, stillMs = 900) {
  const script = `const net = require('node:net');
    const server = net.createServer((near) => {
      const far = net.connect(${target}, '127.0.0.1');
      near.pipe(far).pipe(near);
      for (const each of [near, far]) each.on('error', () => each.destroy());
    });
    server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
      process.stdout.write(server.address().port + '\\n');
      setTimeout(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${stillMs}), 50);
    });`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'ignore'] });
  const [line] = await once(child.stdout, 'data');
  const port = Number(String(line));
  await new Promise((done) => setTimeout(done, 150));
  const waiting = [1, 2, 3].map(() => connect(port, '127.0.0.1').on('error', () => {}));
  await new Promise((done) => setTimeout(done, 50));
  const stop = (): void => {
    for (const each of waiting) each.destroy();
    child.kill('SIGKILL');
  };
  return { port, stop };
}
