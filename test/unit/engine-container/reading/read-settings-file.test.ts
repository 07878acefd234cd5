import { readEntry } from '../../../../engine-container/src/reading/read-settings-file.ts';

const FILE = { id: 'b', mode: '100644', size: null };
const read = (bytes: Buffer | null, entry: Partial<typeof FILE> = {}) => {
  const asked: string[] = [];
  const readBlob = async (id: string) => {
    asked.push(id);
    return bytes;
  };
  return readEntry({ readBlob }, { ...FILE, ...entry }).then((file) => ({ file, asked }));
};

describe('an entry of the name of the settings file, whatever a stranger lands under it', () => {
  test.each([
    ['a folder', '040000'],
    ['a link', '120000'],
    ['a submodule', '160000'],
  ])('%s is wrong, and is not read', async (_what, mode) => {
    expect(await read(Buffer.from('batch_target: 8'), { mode })).toMatchObject({
      asked: [],
      file: { ok: false, problems: [{ line: 1, says: 'The entry of this name is no plain file.' }] },
    });
  });

  test('a megabyte is wrong, also where the forge does not tell the size or keeps the contents back', async () => {
    const says = 'The file has more than 16384 bytes.';
    for (const bytes of [Buffer.alloc(1_000_000, '#'), null])
      expect((await read(bytes)).file).toMatchObject({ ok: false, problems: [{ says }] });
  });

  test('bytes that are no UTF-8 come into no value: a label with one is wrong, a comment is none', async () => {
    const latin = (text: string) => Buffer.from(text, 'latin1');
    expect((await read(latin('batch_target: 8\nlow_labels: [grün]\n'))).file).toMatchObject({
      ok: false,
      problems: [{ line: 2, key: 'low_labels' }],
    });
    expect((await read(latin('# für alle\nbatch_target: 8\n'))).file).toEqual({
      ok: true,
      settings: { batch_target: 8 },
    });
    expect((await read(Buffer.from('batch_target: 8\n', 'utf16le'))).file.ok).toBe(false);
  });

  test('line ends of Windows and a byte order mark change no line and no value', async () => {
    expect((await read(Buffer.from('\ufeffbatch_target: 8\r\nbatch_targt: 2\r\n'))).file).toMatchObject({
      ok: false,
      problems: [{ line: 2, column: 1, key: 'batch_targt' }],
    });
  });
});
