export const MERGE_STYLES = ['merge', 'squash', 'rebase'] as const;
export type MergeStyle = (typeof MERGE_STYLES)[number];
