import type { SettingsTold } from '#core/domain/repos/settings-file.ts';
import { type DecisionContext, entryOf } from '../decision-context.ts';
import type { Batch } from '../record/record.ts';
import { isSpokenFor } from './spoken-for.ts';
import { wishStatus } from './wish-status.ts';

/**
 * Tells the authors of a staged batch what their change of the settings file would set: in full on the page, in short by the
 * status of the head, which is written once as long as it stands (A138).
 */
export function noteSettings(pass: DecisionContext, batch: Batch, told: readonly SettingsTold[] = []): void {
  for (const { pr, head } of batch.members) {
    const entry = entryOf(pass.record, pr);
    if (entry?.head !== head) continue;
    const words = told.find((each) => each.pr === pr);
    delete entry.settingsNote;
    if (words === undefined) continue;
    entry.settingsNote = { head, says: words.says };
    const isSaid = entry.said?.head === head && entry.said.description === words.short;
    if (isSaid || isSpokenFor(pass.record, head)) continue;
    wishStatus(pass, { pr, sha: head, state: 'pending', description: words.short, targetUrl: null });
  }
}
