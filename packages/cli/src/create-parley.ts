import { runCommandLine } from "./commands/command-line.js";
import { runProcess } from "./process-io.js";
import { initCommand } from "./project/init-command.js";

// npm removes the `--` that separates its own options from the options of the program.
const CREATE = initCommand("create-parley", { line: "npm create parley@latest", separator: " --" });

void runProcess((argv, io) => runCommandLine(CREATE, argv, io));
