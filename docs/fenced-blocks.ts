/** A fenced block of a Markdown page. */
export interface FencedBlock {
  readonly language: string;
  /** The words after the language, such as `file=server.ts`. */
  readonly words: readonly string[];
  /** The line of the page that holds the first line of the text; the first line of the page is 1. */
  readonly line: number;
  readonly text: string;
}

/** The fenced blocks of a page, in order. */
export function fencedBlocks(page: string): FencedBlock[] {
  return [...page.matchAll(/^```(\S*)(?: (.*))?\n([\s\S]*?)^```$/gm)].map((block) => {
    const [, language = "", words = "", text = ""] = block;
    const line = page.slice(0, block.index).split("\n").length + 1;
    return { language, words: words.split(" ").filter((word) => word !== ""), line, text };
  });
}

/** A command of a page. */
export interface Example {
  readonly line: number;
  readonly command: string;
  /** The expected exit code: that of `# exits 2` after the command, otherwise 0. */
  readonly code: number;
  /** The lines that the command prints according to the page; none if the page shows no output. */
  readonly printed: readonly string[];
}

/** The commands of a `console` block: each line after `$ ` is one, and the lines after it are its output. */
export function consoleExamples({ line, text }: FencedBlock): Example[] {
  const examples: (Example & { printed: string[] })[] = [];
  for (const [at, content] of text.trimEnd().split("\n").entries()) {
    const command = /^\$ (.*)$/.exec(content)?.[1];
    if (command === undefined) examples.at(-1)?.printed.push(content);
    else examples.push({ ...commandOf(command), line: line + at, printed: [] });
  }
  return examples;
}

/** The commands of an `sh` block, one per line; empty lines and comments are left out. */
export function shellExamples({ line, text }: FencedBlock): Example[] {
  return text.split("\n").flatMap((content, at) => {
    if (/^\s*(#|$)/.test(content)) return [];
    return [{ ...commandOf(content), line: line + at, printed: [] }];
  });
}

function commandOf(content: string): { command: string; code: number } {
  const [, command = content, code = "0"] = /^(.*?)(?:\s+# exits (\d+))?$/.exec(content) ?? [];
  return { command, code: Number(code) };
}

/** Matches output like these lines of a page: a line `…` stands for any lines, `…` within a line for any text. */
export function outputPattern(lines: readonly string[]): RegExp {
  const escaped = lines.map((line) => line.split("…").map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")));
  const body = escaped.map((parts) =>
    parts.every((part) => part === "") && parts.length > 1 ? "[\\s\\S]*?" : parts.join(".*?"),
  );
  return new RegExp(`^${body.join("\\n")}\\n*$`);
}
