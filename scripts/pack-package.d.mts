export function compileProgram(folder: string, program: string): void;
