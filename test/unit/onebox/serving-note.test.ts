import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '../../../onebox/config.ts';
import { noteServing } from '../../../onebox/serving-note.ts';

const root = mkdtempSync(join(tmpdir(), 'serving-note-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

function givenFolder(name: string): string {
  const folder = join(root, name);
  mkdirSync(folder);
  return folder;
}

/** Starts and dies: nothing is left but the note. */
function serve(folder: string, machine = 'one'): boolean {
  const bootId = join(root, machine);
  writeFileSync(bootId, `${machine}\n`);
  const note = noteServing(folder, bootId);
  note.stop();
  return note.isOwnAlone;
}

describe('notes that cannot be kept', () => {
  test('are told with what stands in their way', () => {
    const folder = givenFolder('file');
    writeFileSync(join(folder, 'servers'), '');
    expect(() => serve(folder)).toThrow(ConfigError);
    expect(() => serve(folder)).toThrow(
      'servers in the data folder is in the way: Mergeyard makes a folder of that name there. Move what is there to another place.',
    );
  });

  test('are told with the words of the disk', () => {
    const folder = givenFolder('refusing');
    expect(serve(folder)).toBe(false);
    const [note = ''] = readdirSync(join(folder, 'servers'));
    rmSync(join(folder, 'servers', note));
    mkdirSync(join(folder, 'servers', note));
    expect(() => serve(folder)).toThrow(ConfigError);
    expect(() => serve(folder)).toThrow(
      /^servers in the data folder cannot be read and written: EISDIR.*Check its rights/,
    );
  });
});

describe('a folder is known to have been served by a dead process of this machine alone', () => {
  test('from the second start on, until the machine starts anew', () => {
    const folder = givenFolder('same');
    expect([serve(folder), serve(folder)]).toEqual([false, true]);
    expect(serve(folder, 'one, started anew')).toBe(false);
  });

  test('but not while another machine may serve it, however often this one has started since', () => {
    const folder = givenFolder('shared');
    expect(serve(folder, 'other')).toBe(false);
    expect([serve(folder), serve(folder), serve(folder)]).toEqual([false, false, false]);
  });

  test('again once the other has been silent for ten minutes, and its note is gone', () => {
    const folder = givenFolder('left');
    serve(folder, 'other');
    const [note = ''] = readdirSync(join(folder, 'servers'));
    const silenceFor = (ms: number) => {
      const at = new Date(Date.now() - ms);
      utimesSync(join(folder, 'servers', note), at, at);
    };
    serve(folder);
    silenceFor(9 * 60_000);
    expect(serve(folder)).toBe(false);
    silenceFor(11 * 60_000);
    expect(serve(folder)).toBe(true);
    expect(readdirSync(join(folder, 'servers'))).toHaveLength(1);
  });

  test('but not a copy of it, whose original may run', () => {
    const folder = givenFolder('original');
    serve(folder);
    cpSync(folder, join(root, 'copy'), { recursive: true });
    expect(serve(join(root, 'copy'))).toBe(false);
    expect(serve(folder)).toBe(true);
  });

  test('also where an earlier release left its one note, which that release finds again', () => {
    const folder = givenFolder('earlier');
    const note = join(folder, 'served-by');
    writeFileSync(note, 'one\n');
    expect([serve(folder), serve(folder)]).toEqual([false, true]);
    expect(readFileSync(note, 'utf8')).toBe('one\n');
  });

  test('and not where the machine does not say when it started', () => {
    const folder = givenFolder('untold');
    const start = () => noteServing(folder, join(root, 'none')).isOwnAlone;
    expect([start(), start()]).toEqual([false, false]);
  });
});
