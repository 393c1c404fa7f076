/** Returns JSON text that is identical for equal values, regardless of the order of their members. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => {
    if (typeof inner !== "object" || inner === null || Array.isArray(inner)) return inner;
    const members = inner as Record<string, unknown>;
    return Object.fromEntries(
      Object.keys(members)
        .sort()
        .map((key) => [key, members[key]]),
    );
  });
}
