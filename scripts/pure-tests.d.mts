export declare function pureTests(root: string, files: readonly string[]): string[];
export declare function testFiles(root: string, folders: readonly string[]): string[];
