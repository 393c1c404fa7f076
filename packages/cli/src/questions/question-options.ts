import type { OptionDeclaration } from "../commands/command.js";

/** Options of every command during which a server may ask something. `answerers` reads them. */
export const QUESTION_OPTIONS: readonly OptionDeclaration[] = [
  { flags: "-a, --answer <pair>", summary: "answers a field of the server's forms: `name=value`", many: true },
  { flags: "--answers <json>", summary: "answers the server's forms: an object with the fields" },
  { flags: "--sample-with <command>", summary: "answers questions to a model: JSON on stdin, the answer on stdout" },
  { flags: "--root <folder>", summary: "a folder that the server may work in", many: true },
];
