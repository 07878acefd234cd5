/** @jest-environment jsdom */
import { act, renderHook } from '@testing-library/react';
import { useDraft } from '../../../../dashboard/data/use-draft.ts';

const given = (stored: { linger: string; target: string }) =>
  renderHook((props: typeof stored) => useDraft(props), { initialProps: stored });

test('a field that was not edited follows what another person has stored', () => {
  const { result, rerender } = given({ linger: '0', target: '0' });
  act(() => result.current.edit({ linger: '33' }));
  rerender({ linger: '0', target: '7' });
  expect(result.current.draft).toEqual({ linger: '33', target: '7' });
});

test('an edit that is stored is none any more, and an undone one neither', () => {
  const { result, rerender } = given({ linger: '0', target: '0' });
  act(() => result.current.edit({ linger: '33' }));
  rerender({ linger: '33', target: '0' });
  rerender({ linger: '5', target: '0' });
  expect(result.current.draft.linger).toBe('5');
  act(() => result.current.edit({ linger: '8' }));
  act(() => result.current.undo());
  expect(result.current.draft.linger).toBe('5');
});

test('a save pins the fields that were edited, and no others', () => {
  const { result, rerender } = given({ linger: '0', target: '0' });
  act(() => result.current.edit({ linger: ' 33' }));
  act(() => result.current.saved({ linger: '33', target: '0' }));
  rerender({ linger: '0', target: '7' });
  expect(result.current.draft).toEqual({ linger: '33', target: '7' });
});
