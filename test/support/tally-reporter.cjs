/** Prints `N passed, N failed` as the very last line of a run, so that a person or CI reads one line. */
module.exports = class TallyReporter {
  onRunComplete(_contexts, results) {
    // A suite that could not even load counts as one failure: it must never read as green.
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const skipped = results.numPendingTests + results.numTodoTests;
    const tail = skipped > 0 ? `, ${skipped} skipped` : '';
    process.stderr.write('');
    setImmediate(() => process.stdout.write(`\n${results.numPassedTests} passed, ${failed} failed${tail}\n`));
  }
};
