/** A flat list of headers, names and values in turn, without the one of this name. */
export function withoutHeader(headers: readonly string[], name: string): string[] {
  const kept: string[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    if (headers[at] !== name) kept.push(headers[at] ?? "", headers[at + 1] ?? "");
  }
  return kept;
}
