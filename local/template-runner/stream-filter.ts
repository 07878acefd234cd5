import { isObject, type Json } from '../../core/ports/invocable.ts';
import { asList, asText, fail } from './template.ts';

/** True for a record that the mapping asks for. */
export type StreamFilter = (record: Json) => boolean;

/** Patterns of a mapping's `FilterCriteria`: any of them lets a record through; without any, all pass. */
export function readStreamFilter(criteria: Json | undefined, where: string): StreamFilter {
  if (criteria === undefined || !isObject(criteria)) return () => true;
  const patterns = asList(criteria.Filters ?? [], where).map((filter) => {
    const text = asText(isObject(filter) ? filter.Pattern : undefined, where);
    return compilePattern(JSON.parse(text) as Json, where);
  });
  return (record) => patterns.some((matches) => matches(record));
}

function compilePattern(pattern: Json, where: string): StreamFilter {
  if (!isObject(pattern)) return fail(where, 'a filter is not an object');
  const fields = Object.entries(pattern).map(([name, value]) => {
    const matches = Array.isArray(value) ? compileRules(value, where) : compilePattern(value, where);
    return [name, matches] as const;
  });
  return (record) => isObject(record) && fields.every(([name, matches]) => matches(record[name] ?? null));
}

/** Rules that no mapping of ours uses are refused, not guessed at. */
function compileRules(rules: readonly Json[], where: string): StreamFilter {
  const compiled = rules.map((rule): StreamFilter => {
    if (!isObject(rule)) return (value) => value === rule;
    const [name, ...others] = Object.keys(rule);
    if (name !== 'prefix' || others.length > 0)
      return fail(where, `the filter rule ${name} does not run here`);
    const prefix = asText(rule.prefix, where);
    return (value) => typeof value === 'string' && value.startsWith(prefix);
  });
  return (value) => compiled.some((matches) => matches(value));
}
