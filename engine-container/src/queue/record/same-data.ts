/**
 * Whether two pieces of plain data would be the same JSON, whatever the order of their fields; a field that is undefined
 * is none. What both share is not looked into: two records of one queue share almost everything, and a text of each at
 * every pass would be most of the work of a pass that changes nothing.
 */
export function isSameData(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (Array.isArray(left) || Array.isArray(right))
    return Array.isArray(left) && Array.isArray(right) && isSameList(left, right);
  return isSameFields(left as Fields, right as Fields);
}

type Fields = Readonly<Record<string, unknown>>;

function isSameList(left: readonly unknown[], right: readonly unknown[]): boolean {
  return left.length === right.length && left.every((each, index) => isSameData(each, right[index]));
}

function isSameFields(left: Fields, right: Fields): boolean {
  for (const name in left) if (!isSameData(left[name], ownValueOf(right, name))) return false;
  for (const name in right)
    if (right[name] !== undefined && ownValueOf(left, name) === undefined) return false;
  return true;
}

/** Names of fields may be words of strangers, such as `toString`, which each object inherits. */
function ownValueOf(fields: Fields, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}
