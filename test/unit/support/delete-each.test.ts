import { deleteEach } from '../../support/delete-each.ts';

test('every deletion is tried although an earlier one fails, and the first failure is told', async () => {
  const tried: string[] = [];
  const remove = (name: string, works: boolean) => async () => {
    tried.push(name);
    if (!works) throw new Error(`${name} stays`);
  };
  const all = deleteEach([remove('a', true), remove('b', false), remove('c', true), remove('d', false)]);
  await expect(all).rejects.toThrow('b stays');
  expect(tried).toEqual(['a', 'b', 'c', 'd']);
});
