export type {
  FileChanges,
  ForgeCallRecord,
  ForgeControl,
  GateJudgement,
  GateRunView,
  MergeView,
} from '../../local/forge/control.ts';
