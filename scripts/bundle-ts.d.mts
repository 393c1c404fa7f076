/** Bundles one TypeScript program and returns the path of a file that plain Node runs. */
export function bundleProgram(entry: string): Promise<string>;
