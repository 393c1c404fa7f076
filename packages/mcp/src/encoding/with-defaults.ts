/** An object of which every member that may be undefined may be left out instead. */
type Given<T> = { [K in keyof T]: Exclude<T[K], undefined> };

/** Leaves out the members that are undefined: callers write `{ limit: undefined }` for "as usual". */
export function withoutUndefined<T extends object>(members: T): Given<T> {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  // What was left out is exactly what the type no longer has.
  return Object.fromEntries(entries) as Given<T>;
}

/** Some members of `T`; undefined is as good as leaving one out. */
export type Some<T> = { [K in keyof T]?: T[K] | undefined };

/** The defaults, replaced by what was given. */
export function withDefaults<T extends object>(defaults: T, chosen: Some<T> | undefined): T {
  return chosen === undefined ? { ...defaults } : { ...defaults, ...withoutUndefined(chosen) };
}
