import type { ManagedRepo } from '../repos/repo.ts';

/** Address of the page of a queue. `serviceUrl`: that of this service, without a slash at its end. */
export function queuePageOf(serviceUrl: string, { id }: Pick<ManagedRepo, 'id'>): string {
  return `${serviceUrl}/repos/${id}`;
}

/** Address of the page of one pull request, below that of its queue. */
export function pullPageOf(queuePage: string, pr: number): string {
  return `${queuePage}/pulls/${pr}`;
}
