/** Upper bounds of the buckets of durations, in seconds; a reconcile is over after 45 s at the latest. */
const BUCKETS = [0.1, 0.5, 1, 5, 15, 45];

interface Histogram {
  readonly counts: number[];
  sum: number;
  count: number;
}

/** Figures of this process in OpenMetrics text. No name of a repository or a person is ever a label. */
export class Metrics {
  readonly #counters = new Map<string, Map<string, number>>();
  readonly #histograms = new Map<string, Histogram>();

  /** Adds one to a counter, whose name ends in `_total`. */
  count(name: string, labels: Readonly<Record<string, string>>): void {
    const series = this.#counters.get(name) ?? new Map<string, number>();
    this.#counters.set(name, series);
    const key = Object.entries(labels)
      .map(([label, value]) => `${label}="${value}"`)
      .join(',');
    series.set(key, (series.get(key) ?? 0) + 1);
  }

  observe(name: string, seconds: number): void {
    const histogram = this.#histograms.get(name) ?? { counts: BUCKETS.map(() => 0), sum: 0, count: 0 };
    this.#histograms.set(name, histogram);
    for (const [index, bound] of BUCKETS.entries())
      if (seconds <= bound) histogram.counts[index] = (histogram.counts[index] ?? 0) + 1;
    histogram.sum += seconds;
    histogram.count += 1;
  }

  format(gauges: Readonly<Record<string, number>>): string {
    const lines: string[] = [];
    for (const [name, value] of Object.entries(gauges))
      lines.push(`# TYPE ${name} gauge`, `${name} ${value}`);
    lines.push(
      '# TYPE process_resident_memory_bytes gauge',
      `process_resident_memory_bytes ${process.memoryUsage.rss()}`,
    );
    for (const [name, series] of this.#counters) {
      lines.push(`# TYPE ${name.replace(/_total$/, '')} counter`);
      for (const [labels, value] of series) lines.push(`${name}{${labels}} ${value}`);
    }
    for (const [name, { counts, sum, count }] of this.#histograms) {
      lines.push(`# TYPE ${name} histogram`);
      for (const [index, bound] of BUCKETS.entries())
        lines.push(`${name}_bucket{le="${bound}"} ${counts[index] ?? 0}`);
      lines.push(`${name}_bucket{le="+Inf"} ${count}`, `${name}_sum ${sum}`, `${name}_count ${count}`);
    }
    return `${[...lines, '# EOF'].join('\n')}\n`;
  }
}
