import { Duration } from 'aws-cdk-lib';
import { FilterPattern } from 'aws-cdk-lib/aws-logs';
import { RECONCILE_ERROR_CODES, type ReconcileErrorCode } from '../../core/domain/repo.ts';
import { type AlarmSpec, fieldIsOneOf, type Monitoring } from './monitoring.ts';
import type { ServiceFunction } from './service-function.ts';

/** Three ticks: long enough for an engine that was asleep, and for one wake that had to be tried again. */
const STANDSTILL_PERIOD = Duration.minutes(15);
/**
 * Is this outcome an answer of the engine? True: a forge, a token or a repository is in trouble, and the service works. A
 * new code does not compile before it stands here.
 */
const IS_ANSWER: Readonly<Record<ReconcileErrorCode, boolean>> = {
  forge_unreachable: true,
  forge_access_denied: true,
  connection_not_found: true,
  gate_missing: true,
  protection_conflict: true,
  branch_name_taken: true,
  another_queue: true,
  success_stands: true,
  base_red: true,
  tree_mismatch: true,
  record_too_large: true,
  gate_infrastructure: true,
  decryption_error: false,
  lease_lost: false,
  timeout: false,
  engine_starting: false,
  engine_error: false,
};
const ANSWERS = RECONCILE_ERROR_CODES.filter((code) => IS_ANSWER[code]);

interface Watched {
  readonly tick: ServiceFunction;
  readonly worker: ServiceFunction;
}

/** Alarms on the way from a due repository to the outcome of its reconcile. */
export function watchReconciles(monitoring: Monitoring, { tick, worker }: Watched): void {
  monitoring.addAlarm(worker, 'WorkerFailedAlarm', {
    metric: worker.fn.metricErrors({ period: Duration.minutes(5), statistic: 'Sum' }),
    periods: 2,
    severity: 'page',
    meaning: 'The worker crashes or runs out of time: repositories are not reconciled.',
  });
  // What the worker catches itself never counts as an error of the function.
  monitoring.addLogAlarm(worker, 'WakesFailedAlarm', {
    logGroup: worker.logGroup,
    where: { message: 'message failed' },
    threshold: 10,
    severity: 'ticket',
    meaning: 'Wakes fail before their reconcile has an outcome; each is tried again.',
  });
  addOutcomeAlarms(monitoring, worker);
  addStandstillAlarm(monitoring, { tick, worker });
}

/** A reconcile that failed is an outcome in the worker's log, not a failed invocation (A120). */
function addOutcomeAlarms(monitoring: Monitoring, worker: ServiceFunction): void {
  const watch = (
    id: string,
    errorCode: ReconcileErrorCode,
    spec: Pick<AlarmSpec, 'severity' | 'meaning' | 'threshold'>,
  ): void => {
    const where = { message: 'reconciled', error_code: errorCode };
    monitoring.addLogAlarm(worker, id, { logGroup: worker.logGroup, where, ...spec });
  };
  watch('DecryptFailedAlarm', 'decryption_error', {
    severity: 'page',
    meaning: 'A stored token cannot be decrypted; its repositories stand still.',
  });
  watch('FenceLostAlarm', 'lease_lost', {
    severity: 'ticket',
    threshold: 3,
    meaning: 'Reconciles lose their lease to another worker while they run.',
  });
  watch('EngineErrorsAlarm', 'engine_error', {
    severity: 'ticket',
    threshold: 10,
    meaning: 'Many reconciles end in an error of the engine.',
  });
}

/** The one heartbeat of the whole chain: repositories were due, and not one of their reconciles was answered. */
function addStandstillAlarm(monitoring: Monitoring, { tick, worker }: Watched): void {
  const period = STANDSTILL_PERIOD;
  monitoring.addHeartbeatAlarm(worker, 'QueuesStandStillAlarm', {
    severity: 'page',
    meaning: 'Queues are switched on, and no reconcile has been answered by the engine for 15 minutes.',
    period,
    expected: monitoring.countLines(tick, 'Woken', {
      logGroup: tick.logGroup,
      // Without a due repository there is no data, and no charge for the metric.
      pattern: FilterPattern.all(
        fieldIsOneOf('message', ['tick']),
        FilterPattern.numberValue('$.woken', '>', 0),
      ),
      value: '$.woken',
      period,
    }),
    beats: monitoring.countLines(worker, 'Answered', {
      logGroup: worker.logGroup,
      pattern: FilterPattern.all(
        fieldIsOneOf('message', ['reconciled']),
        FilterPattern.any(FilterPattern.booleanValue('$.ok', true), fieldIsOneOf('error_code', ANSWERS)),
      ),
      period,
    }),
  });
}
