import { findTool, type OutsideTool } from '../../template/outside-tool.ts';

const TOOL: OutsideTool = { name: 'judge', command: 'judge', atLeast: '1.58.0', hint: 'install it' };

test('a check that needs a program beside the project says which one is missing and how to get it', () => {
  expect(findTool(TOOL, () => null)).toEqual({
    skipped: 'skipped: judge is not on this machine; install it',
  });
  expect(findTool({ ...TOOL, command: '/nowhere/judge' })).toEqual(findTool(TOOL, () => null));
});

test('an earlier release of that program judges nothing: it would report what is right', () => {
  expect(findTool(TOOL, () => 'judge 1.51.9')).toEqual({
    skipped: 'skipped: this needs judge 1.58.0 or later, not 1.51.9; install it',
  });
  expect(findTool(TOOL, () => 'judge 1.58.0')).toEqual({ version: '1.58.0' });
  expect(findTool(TOOL, () => 'judge 1.100.0\n')).toEqual({ version: '1.100.0' });
  expect(findTool(TOOL, () => '2.0.1')).toEqual({ version: '2.0.1' });
});
