export const LEAST_COMPILER: string;
export const NODE_TYPES: string;
export function compileProgram(folder: string, program: string): void;
