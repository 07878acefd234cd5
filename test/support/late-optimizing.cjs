/**
 * Options of node. A worker of the tests lives for minutes, and node 20 optimizes a function as soon as it would for a service
 * of days: a fifth of what the engine's scenarios compute was this, much of it thrown away again. Later versions wait by
 * themselves, and know no such option.
 */
exports.LATE_OPTIMIZING =
  Number.parseInt(process.versions.node, 10) < 22 ? ['--interrupt-budget=300000'] : [];
