/** The findings in one file; `path` is that from the root of the repository. */
export declare function findingsIn(path: string, text: string): string[];
