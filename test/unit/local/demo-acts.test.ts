import { setImmediate as turn } from 'node:timers/promises';
import { Acts } from '../../../local/demo/acts.ts';

test('an act that is under way holds up no other, is begun once, and is remembered when it is through', async () => {
  const remembered: string[] = [];
  const acts = new Acts(['pushed'], (name) => remembered.push(name));
  let release = (): void => {};
  const long = new Promise<void>((done) => {
    release = done;
  });
  const begun: string[] = [];
  for (let look = 0; look < 2; look += 1) {
    for (const name of ['pushed', 'long', 'cancelled']) {
      acts.begin(name, async () => {
        begun.push(name);
        if (name === 'long') await long;
      });
    }
    await turn();
  }
  expect([begun, remembered]).toEqual([['long', 'cancelled'], ['cancelled']]);
  release();
  await acts.end();
  expect(remembered).toEqual(['cancelled', 'long']);
});

test('an act that fails ends the story, and is not remembered', async () => {
  const remembered: string[] = [];
  const acts = new Acts([], (name) => remembered.push(name));
  acts.begin('pushed', () => Promise.reject(new Error('no right')));
  await turn();
  expect(() => acts.check()).toThrow('no right');
  await expect(acts.end()).rejects.toThrow('no right');
  expect(remembered).toEqual([]);
});
