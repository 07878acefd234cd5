import type { Odds } from './odds.ts';
import type { Plot, Stagehand } from './plot.ts';
import { Blocks } from './plots/blocks.ts';
import { Backports } from './plots/carried.ts';
import { Curse } from './plots/curse.ts';
import { GateEdits, SkipTitles } from './plots/gate-edits.ts';
import { HeadsOfOthers, SharedHeads } from './plots/shared-heads.ts';
import { TakenNames } from './plots/taken-names.ts';
import { TwoSides } from './plots/two-sides.ts';
import { SettingsFiles } from './settings-files.ts';

export function drawPlots(hand: Stagehand, odds: Readonly<Odds>): readonly Plot[] {
  const plots: Plot[] = [];
  if (odds.sharedHeads > 0 && hand.elsewhere !== undefined)
    plots.push(new HeadsOfOthers(hand, hand.elsewhere));
  if (odds.sharedHeads > 0) plots.push(new SharedHeads(hand));
  if (odds.otherMerges + odds.otherTrees > 0) plots.push(new TwoSides(hand));
  if (odds.gateEdits > 0) plots.push(new GateEdits(hand));
  if (odds.skipTitles > 0) plots.push(new SkipTitles(hand));
  if (odds.takenNames > 0) plots.push(new TakenNames(hand));
  if (odds.curse > 0) plots.push(new Curse(hand));
  if (odds.blocks > 0) plots.push(new Blocks(hand));
  if (odds.backports > 0) plots.push(new Backports(hand));
  if (odds.settingsFiles > 0) plots.push(new SettingsFiles(hand));
  return plots;
}
