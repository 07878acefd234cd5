import { faultBySentinel, judgeBySentinel } from '../../../../local/forge/sentinels.ts';

const RUN = { branch: 'mq/main/staging', sha: 'a'.repeat(40) };
const verdictOf = (...files: string[]) => judgeBySentinel(new Map(files.map((file) => [file, ''])), RUN);
const faultOf = (path: string) => faultBySentinel({ method: 'GET', path })?.status ?? null;

test('a file decides what the gate comes to; without one it passes', () => {
  expect(verdictOf('README.md')).toBe('success');
  expect(verdictOf('README.md', 'broken')).toBe('failure');
  expect(verdictOf('sentinel/is-cancelled')).toBe('cancelled');
  expect(verdictOf('sentinel/never-starts')).toBe('never');
});

test('the name of a repository decides what the forge refuses, and of that one only', () => {
  expect(faultOf('/api/v1/repos/acme/sentinel-unreachable/pulls?state=open')).toBe(503);
  expect(faultOf('/api/v1/repos/acme/sentinel-denied')).toBe(403);
  expect(faultOf('/api/v1/repos/acme/sentinel-no-admin/pulls')).toBeNull();
  expect(faultOf('/api/v1/repos/acme/sentinel-no-admin/hooks')).toBe(403);
  expect(faultOf('/api/v1/repos/acme/sentinel-no-admin/branch_protections/main')).toBe(403);
  expect(faultOf('/api/v1/repos/acme/app/hooks')).toBeNull();
  expect(faultOf('/api/v1/user/repos')).toBeNull();
});
