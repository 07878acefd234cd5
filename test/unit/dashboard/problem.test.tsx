/** @jest-environment jsdom */
import { render } from '@testing-library/react';
import { ERROR_TABLE, type ErrorCode } from '#core/contracts/errors.ts';
import { ApiError } from '#core/contracts/routes/client.ts';
import { sayRefusal } from '../../../cli/refusal.ts';
import { Problem, ProblemPage } from '../../../dashboard/parts/frame/errors.tsx';

const given = (code: ErrorCode) =>
  new ApiError(code, ERROR_TABLE[code].message, ERROR_TABLE[code].status, false);

test.each<ErrorCode>([
  'decryption_error',
  'forge_access_denied',
  'ci_gate_missing',
  'queue_branches_ruled',
  'repo_limit_exceeded',
  // Their messages end with the step.
  'head_moved',
  'branch_not_protected',
  'status_context_taken',
])('the page says of %s what the command line says, word for word', (code) => {
  const error = given(code);
  const { container } = render(<Problem error={error} />);
  const words = container.querySelector('.problem p:nth-of-type(2)')?.textContent;
  expect(`${code}: ${words}`).toBe(sayRefusal(error));
});

test('a page that could not be shown has the step in a line of its own, and not in the lead too', () => {
  const { container } = render(<ProblemPage error={given('head_moved')} />);
  expect(container.textContent?.split('Look at the new commits').length).toBe(2);
});
