import { randomUUID } from 'node:crypto';
import { NOTICE_KEPT_MS } from '#core/domain/api-limits.ts';
import type { World } from './subject.ts';

export function describeNotices({ store, clock }: World): void {
  describe('requests of notices', () => {
    test('one that waits refuses the same again, and one that was never taken makes way when it has ended', async () => {
      const tenantId = `tenant-${randomUUID()}`;
      const ask = (subject: string) =>
        store().requestNotice({ kind: 'invoice_failed', tenantId, subject, email: null });
      expect([await ask('in_1'), await ask('in_1'), await ask('in_2')]).toEqual([true, false, true]);
      await clock.advance(NOTICE_KEPT_MS - 1);
      expect(await ask('in_1')).toBe(false);
      await clock.advance(1);
      expect([await ask('in_1'), await ask('in_1')]).toEqual([true, false]);
    });

    test('of many that ask at once after its end one is told that it asked', async () => {
      const tenantId = `tenant-${randomUUID()}`;
      const ask = () =>
        store().requestNotice({ kind: 'invoice_failed', tenantId, subject: 'in_3', email: null });
      await ask();
      await clock.advance(NOTICE_KEPT_MS);
      const asked = await Promise.all(Array.from({ length: 8 }, ask));
      expect(asked.filter((each) => each)).toHaveLength(1);
    });
  });
}
