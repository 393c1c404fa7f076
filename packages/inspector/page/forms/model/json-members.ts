/** True if a value is a JSON object. */
export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns an own member of an object. Undefined if there is none. */
export function memberOf(value: unknown, name: string): unknown {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** Returns the object with a member set, in its old position. An undefined value removes the member. */
export function withMember(value: unknown, name: string, member: unknown): Readonly<Record<string, unknown>> {
  const entries = isJsonObject(value) ? Object.entries(value) : [];
  const at = entries.findIndex(([known]) => known === name);
  if (member === undefined) return Object.fromEntries(entries.filter(([known]) => known !== name));
  if (at < 0) entries.push([name, member]);
  else entries[at] = [name, member];
  // `fromEntries` defines members, so that even `__proto__` becomes a member.
  return Object.fromEntries(entries);
}

/**
 * Returns the object with a member renamed, in its old position. The object is unchanged if the new name exists
 * already.
 */
export function withRenamed(value: unknown, from: string, to: string): Readonly<Record<string, unknown>> {
  const object = isJsonObject(value) ? value : {};
  if (Object.hasOwn(object, to)) return object;
  return Object.fromEntries(Object.entries(object).map(([name, member]) => [name === from ? to : name, member]));
}

/** Returns the list with an item replaced or appended. Fills gaps with null. */
export function withItem(list: readonly unknown[], index: number, item: unknown): readonly unknown[] {
  const next = [...list];
  while (next.length < index) next.push(null);
  next[index] = item === undefined ? null : item;
  return next;
}

/** Returns the list without an item. */
export function withoutItem<T>(list: readonly T[], index: number): readonly T[] {
  return list.filter((_, at) => at !== index);
}

/** Returns the list with an item moved up (-1) or down (1) by one. */
export function withMoved<T>(list: readonly T[], index: number, by: -1 | 1): readonly T[] {
  const to = index + by;
  if (to < 0 || to >= list.length) return list;
  const next = [...list];
  const [item] = next.splice(index, 1);
  // Safe: the index is within the list.
  next.splice(to, 0, item as T);
  return next;
}

/** True if two JSON values are equal, regardless of the order of members. */
export function sameJson(left: unknown, right: unknown): boolean {
  if (Object.is(left, right)) return true;
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item, index) => sameJson(item, right[index]));
  }
  if (!isJsonObject(left) || !isJsonObject(right)) return false;
  const names = Object.keys(left);
  return (
    names.length === Object.keys(right).length &&
    names.every((name) => Object.hasOwn(right, name) && sameJson(left[name], right[name]))
  );
}
