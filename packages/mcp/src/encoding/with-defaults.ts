/** An object type without `undefined` in the types of its members. */
type WithoutUndefined<T> = { [K in keyof T]: Exclude<T[K], undefined> };

/**
 * Returns a copy without the members that are undefined, because callers write `{ limit: undefined }` to get the
 * default.
 */
export function withoutUndefined<T extends object>(members: T): WithoutUndefined<T> {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  // Safe: the removed members are exactly those that the type excludes.
  return Object.fromEntries(entries) as WithoutUndefined<T>;
}

/** Some members of `T`. Undefined means the same as absent. */
export type Some<T> = { [K in keyof T]?: T[K] | undefined };

/** Returns the defaults, overridden by the chosen members that are not undefined. */
export function withDefaults<T extends object>(defaults: T, chosen: Some<T> | undefined): T {
  return chosen === undefined ? { ...defaults } : { ...defaults, ...withoutUndefined(chosen) };
}
