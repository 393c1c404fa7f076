/** The folders of packages and their sources, the entries of the library, and the folders at the root. */
export declare function areasOf(): Set<string>;

/** The problems of one subject; none if it has the form. */
export declare function problemsOf(subject: string, areas: ReadonlySet<string>): string[];
