import type { CommandDeclaration, OptionDeclaration } from "../commands/command.js";
import { OUTPUT_OPTIONS, TARGET_OPTIONS } from "../commands/target-options.js";

const FILE_OPTIONS: readonly OptionDeclaration[] = [
  { flags: "-o, --output <path>", summary: "the file or folder for images, audio and other binary content" },
  { flags: "--force", summary: "replace an existing file" },
];
/** Options of every command during which a server may ask questions. `questionHandlers` reads them. */
const QUESTION_OPTIONS: readonly OptionDeclaration[] = [
  { flags: "-a, --answer <pair>", summary: "answer a field of the server's forms: `name=value`", many: true },
  { flags: "--answers <json>", summary: "answer the server's forms with a JSON object of fields" },
  {
    flags: "--sample-with <command>",
    summary: "a program that answers sampling requests: JSON on stdin, the answer on stdout",
  },
  { flags: "--root <folder>", summary: "a folder that the server may work in", many: true },
];
const COMMON: readonly OptionDeclaration[] = [...TARGET_OPTIONS, ...OUTPUT_OPTIONS];

/** Commands that use the offers of a server. */
export const USE_COMMANDS: readonly CommandDeclaration[] = [
  {
    name: "list",
    words: "<target> [tools|resources|templates|prompts|skills]",
    summary: "list what a server offers",
    options: [{ flags: "-l, --long", summary: "show whole descriptions and schemas" }, ...COMMON],
    examples: [
      { line: "parley list http://127.0.0.1:3000/mcp", does: "Lists everything that the server declares." },
      { line: "parley list ./server.ts tools --long", does: "Shows the tools of a module with their schemas." },
    ],
    load: async () => (await import("./list.js")).list,
  },
  {
    name: "call",
    words: "<target> <tool> [name=value…]",
    summary: "call a tool and show its result",
    description:
      "Calls a tool. Arguments are name=value, typed by the tool's schema; name:=json; name=@file; repeated names for lists; " +
      "one JSON object; or - to read one from stdin. On a terminal, asks for missing arguments.",
    options: [
      { flags: "--task", summary: "let the server run the call as a task, and wait for its result" },
      { flags: "--trace", summary: "print each layer that the call passes, with its times, to stderr" },
      ...FILE_OPTIONS,
      ...QUESTION_OPTIONS,
      ...COMMON,
    ],
    examples: [
      { line: "parley call http://127.0.0.1:3000/mcp add a=1 b=2", does: "Calls `add` with two numbers." },
      { line: 'echo \'{"a":1,"b":2}\' | parley call ./server.ts add -', does: "Reads the arguments from stdin." },
      { line: "parley call fixture picture -o picture.png", does: "Saves the image that the tool returns." },
      {
        line: "parley call fixture greet -a name=Ada --json",
        does: "Answers the tool's form on the command line.",
      },
    ],
    load: async () => (await import("./call.js")).call,
  },
  {
    name: "read",
    words: "<target> <uri>",
    summary: "read a resource",
    options: [
      { flags: "--raw", summary: "write the exact bytes to stdout, for a file or a program" },
      ...FILE_OPTIONS,
      ...QUESTION_OPTIONS,
      ...COMMON,
    ],
    examples: [
      { line: "parley read http://127.0.0.1:3000/mcp note://today", does: "Prints the text of a resource." },
      { line: "parley read fixture note://today --raw > today.txt", does: "Writes its bytes to a file." },
    ],
    load: async () => (await import("./read.js")).read,
  },
  {
    name: "prompt",
    words: "<target> <prompt> [name=value…]",
    summary: "show the messages of a prompt",
    options: [...FILE_OPTIONS, ...QUESTION_OPTIONS, ...COMMON],
    examples: [
      { line: "parley prompt ./server.ts review language=go", does: "Prints the messages with their roles." },
      { line: "parley prompt ./server.ts review language=go --json", does: "Prints them as JSON." },
    ],
    load: async () => (await import("./prompt.js")).prompt,
  },
  {
    name: "complete",
    words: "<target> <prompt or template> <argument> [typed] [name=value…]",
    summary: "suggest values for an argument",
    options: COMMON,
    examples: [
      { line: "parley complete ./server.ts review language t", does: "Suggests languages for t, best first." },
      {
        line: "parley complete ./server.ts 'note://{day}' day mon",
        does: "Suggests values for a variable of a template.",
      },
    ],
    load: async () => (await import("./complete.js")).complete,
  },
  {
    name: "subscribe",
    words: "<target> [uri…]",
    summary: "print changes as they happen",
    description: "Prints changes of the named resources, or of all lists if none is named, until Ctrl-C.",
    options: [
      { flags: "-n, --count <n>", summary: "stop after n changes" },
      { flags: "--read", summary: "print the new contents of a changed resource" },
      ...COMMON,
    ],
    examples: [
      { line: "parley subscribe http://127.0.0.1:3000/mcp note://today --read", does: "Shows each new version." },
      { line: "parley subscribe ./server.ts --count 1 --json", does: "Waits for one change of a list." },
    ],
    load: async () => (await import("./subscribe.js")).subscribe,
    endsBySignal: true,
  },
  {
    name: "ping",
    words: "<target>",
    summary: "measure how long a server takes to answer",
    options: [{ flags: "-n, --count <n>", summary: "number of pings (default: 4)" }, ...COMMON],
    examples: [
      { line: "parley ping http://127.0.0.1:3000/mcp", does: "Pings four times and prints each response time." },
      { line: "parley ping --count 1 -- node server.js", does: "Starts a server and pings it once." },
    ],
    load: async () => (await import("./ping.js")).ping,
  },
  {
    name: "info",
    words: "<target>",
    summary: "show a server's name, revision and capabilities",
    options: COMMON,
    examples: [
      { line: "parley info http://127.0.0.1:3000/mcp", does: "Shows its name, revision, capabilities and latency." },
      { line: "parley info ./server.ts --json", does: "Prints the same as JSON." },
    ],
    load: async () => (await import("./info.js")).info,
  },
  {
    name: "search",
    words: "<target> <words…>",
    summary: "find tools by what they do",
    options: [
      { flags: "--limit <n>", summary: "the maximum number of tools (default: 10)" },
      {
        flags: "--detail <level>",
        summary: "how much to show of each tool (default: summary)",
        choices: ["name", "summary", "full"],
      },
      ...COMMON,
    ],
    examples: [
      { line: "parley search http://127.0.0.1:3000/mcp sum of numbers", does: "Finds matching tools, best first." },
      { line: "parley search ./server.ts picture --detail full --json", does: "Prints whole definitions as JSON." },
    ],
    load: async () => (await import("./search.js")).search,
  },
];
