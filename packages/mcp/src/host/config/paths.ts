/** Joins a folder and a path below it, with the separator that the folder has. */
export function joinPath(folder: string, ...names: readonly string[]): string {
  const separator = folder.includes("\\") && !folder.includes("/") ? "\\" : "/";
  return [folder.replace(/[\\/]+$/, ""), ...names].join(separator);
}

/** A path as it stands if it is absolute; otherwise below the home folder (`~/…`) or the base folder. */
export function absolutePath(path: string, base: string | undefined, home: string | undefined): string {
  if (/^~[\\/]/.test(path) && home !== undefined) return joinPath(home, path.slice(2));
  if (base === undefined || /^(?:[\\/]|[A-Za-z]:[\\/])/.test(path)) return path;
  return joinPath(base, path.replace(/^\.[\\/]/, ""));
}
