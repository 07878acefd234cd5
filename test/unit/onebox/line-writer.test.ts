import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { Writable } from 'node:stream';
import { createLineWriter } from '../../../onebox/line-writer.ts';

test('lines go to the stream, one each', () => {
  const written: string[] = [];
  const stream = new Writable({
    write: (part, _encoding, done) => {
      written.push(String(part));
      done();
    },
  });
  const write = createLineWriter(stream, () => {
    throw new Error('the stream takes lines');
  });
  write('one');
  write('two');
  expect(written).toEqual(['one\n', 'two\n']);
});

test('lines that cannot be written are counted, and told once lines can be written again', async () => {
  const stream = new Writable({ write: (_part, _encoding, done) => done(new Error('ENOSPC')) });
  const written: string[] = [];
  let isFull = true;
  const write = createLineWriter(stream, (text) => {
    if (isFull) throw new Error('ENOSPC');
    written.push(text);
  });
  write('first');
  await new Promise((failed) => stream.once('close', failed));
  write('second');
  isFull = false;
  write('third');
  write('fourth');
  expect(JSON.parse(written[0] ?? '')).toEqual({ level: 'warn', message: 'log lines were lost', lost: 2 });
  expect(written.slice(1)).toEqual(['third\n', 'fourth\n']);
});

test('a process whose reader has left goes on', async () => {
  const program = `
    import { createLineWriter } from ${JSON.stringify(resolve('onebox/line-writer.ts'))};
    const write = createLineWriter();
    let lines = 0;
    const timer = setInterval(() => {
      write('x'.repeat(1_000));
      lines += 1;
      if (lines === 20) { clearInterval(timer); process.stderr.write('went on'); }
    }, 5);`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.destroy();
  let said = '';
  child.stderr.on('data', (part) => {
    said += String(part);
  });
  const code = await new Promise((done) => child.once('exit', done));
  expect([code, said]).toEqual([0, 'went on']);
});
