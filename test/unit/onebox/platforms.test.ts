import { readSource } from '../../architecture/sources.ts';

const DATABASES = /@dynoxide\/[a-z0-9-]+/g;
const namesIn = (path: string) => [...new Set(readSource(path).match(DATABASES))].sort();

test('the document of the one box names the platforms whose database is installed, and no other', () => {
  const installed = namesIn('package-lock.json');
  expect(namesIn('package.json')).toEqual(installed);
  expect(namesIn('docs/onebox.md')).toEqual(installed);
});

test('the document says that Linux alone is served for as long as the lock of the folder needs it', () => {
  expect(readSource('onebox/folder-lock.ts')).toContain('/proc/self/fd/');
  expect(readSource('docs/onebox.md')).toContain('the lock of the data folder works by `/proc`');
});
