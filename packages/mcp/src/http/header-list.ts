/** The names and values of a flat list of headers, pair by pair. */
export function* headerPairs(list: readonly string[]): Generator<[name: string, value: string]> {
  // The list holds whole pairs, so that no member is missing.
  for (let at = 0; at < list.length; at += 2) yield [list[at] as string, list[at + 1] as string];
}

/**
 * The headers of one request as a flat list. What the request itself says replaces what every request says, because a name
 * must not be sent twice. Names are in lower case already.
 */
export function headerList(always: Readonly<Record<string, string>>, own: Readonly<Record<string, string>>): string[] {
  const list: string[] = [];
  for (const name in always) if (!Object.hasOwn(own, name)) list.push(name, always[name] as string);
  for (const name in own) list.push(name, own[name] as string);
  return list;
}

/** The same headers with their names in lower case. */
export function lowerCaseNames(headers: Readonly<Record<string, string>>): Record<string, string> {
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) result[name.toLowerCase()] = value;
  return result;
}
