import { toFanoutAdviceView } from '#core/contracts/queue/fanout-advice.ts';
import type { ApiHandlers } from '#core/http/api-call.ts';
import type { FiguresDeps } from '#core/services/reads/read-figures.ts';
import { adviseFanout } from './advise-fanout.ts';

export function createAdviceRoutes(deps: FiguresDeps): ApiHandlers<'advice'> {
  return {
    readFanoutAdvice: async ({ tenantId, id }) => ({
      status: 200,
      body: toFanoutAdviceView(await adviseFanout(deps, tenantId, id)),
    }),
  };
}
