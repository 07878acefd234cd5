import { Duration } from 'aws-cdk-lib';
import { FilterPattern } from 'aws-cdk-lib/aws-logs';
import { RECONCILE_ERROR_CODES, type ReconcileErrorCode } from '../../core/domain/repos/repo.ts';
import { fieldIsOneOf, type LineSpec, type Monitoring } from './monitoring.ts';
import type { ServiceFunction } from './service-function.ts';

/**
 * Period of the standstill alarm, one tick. Three periods are long enough for an engine that was asleep, and for one
 * wake that had to be tried again.
 */
const STANDSTILL_PERIOD = Duration.minutes(5);
const STANDSTILL_PERIODS = 3;
/**
 * Whether this outcome is an answer of the engine. True: a forge, a token or a repository is in trouble, and the
 * service works. A new code does not compile before it stands here.
 */
const IS_ANSWER: Readonly<Record<ReconcileErrorCode, boolean>> = {
  forge_unreachable: true,
  forge_call_failed: true,
  forge_access_denied: true,
  connection_not_found: true,
  gate_missing: true,
  foreign_gate_status: true,
  gate_timeout: true,
  protection_conflict: true,
  base_missing: true,
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

/** Alarms on the way from a due repository to the outcome of its reconcile. */
export function watchReconciles(monitoring: Monitoring, worker: ServiceFunction): void {
  // An error that the worker catches itself never counts as an error of the function.
  monitoring.addLine(worker, 'WakesFailed', {
    logGroup: worker.logGroup,
    where: { message: 'message failed' },
    threshold: 10,
    alarm: 'ticket',
  });
  // The service writes these lines when a function crashes or is stopped.
  monitoring.addLine(worker, 'WorkerCrashed', {
    logGroup: worker.logGroup,
    where: { type: 'platform.report', 'record.status': ['error', 'timeout', 'failure'] },
    threshold: 3,
    alarm: 'ticket',
  });
  addOutcomeLines(monitoring, worker);
  addStandstillAlarm(monitoring, worker);
}

/** Adds the lines of failed reconciles, each an outcome in the worker's log and not a failed invocation (A120). */
function addOutcomeLines(monitoring: Monitoring, worker: ServiceFunction): void {
  const watch = (name: string, spec: Omit<LineSpec, 'logGroup'>): void =>
    monitoring.addLine(worker, name, { logGroup: worker.logGroup, ...spec });
  const withCode = (code: ReconcileErrorCode) => ({ message: 'reconciled', error_code: code });
  watch('FenceLost', { where: withCode('lease_lost'), alarm: 'ticket', threshold: 3 });
  watch('EngineErrors', { where: withCode('engine_error'), alarm: 'ticket', threshold: 10 });
  // Before the token is opened nothing is known to need the engine, so no standstill is counted.
  watch('KeyRefused', { where: { message: 'the credential key is refused' }, alarm: 'page', threshold: 1 });
  // Not by its code, which each wake has until its owner stores another token.
  watch('DecryptFailed', { where: { message: 'a token does not open' }, alarm: 'page', threshold: 1 });
}

/**
 * The one heartbeat from the worker to the engine and back: the engine was needed all the time, and not one reconcile had an
 * answer of it. What an idle look answers is neither. That wakes come at all is for the ticks and the age of the queue, and a
 * worker that fails before it needs the engine is for `OutageLinesAlarm`.
 */
function addStandstillAlarm(monitoring: Monitoring, worker: ServiceFunction): void {
  const period = STANDSTILL_PERIOD;
  const { logGroup } = worker;
  monitoring.addHeartbeatAlarm(worker, 'QueuesStandStillAlarm', {
    severity: 'page',
    meaning: 'Queues have something to do, and no reconcile has been answered by the engine for 15 minutes.',
    period,
    periods: STANDSTILL_PERIODS,
    // Without a line there is no data, and no charge for the metric.
    expected: monitoring.countLines(worker, 'Needed', {
      logGroup,
      period,
      pattern: fieldIsOneOf('message', ['the engine is needed']),
    }),
    beats: monitoring.countLines(worker, 'Answered', {
      logGroup,
      pattern: FilterPattern.all(
        fieldIsOneOf('message', ['reconciled']),
        fieldIsOneOf('by', ['engine']),
        FilterPattern.any(FilterPattern.booleanValue('$.ok', true), fieldIsOneOf('error_code', ANSWERS)),
      ),
      // A service whose engine has never answered has a value too.
      countsZero: true,
      period,
    }),
  });
}
