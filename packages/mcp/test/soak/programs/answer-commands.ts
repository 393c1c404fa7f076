import { memoryAfterCollection, memoryNow } from "../memory.js";
import { READY, type Reply } from "../program.js";

type Command = (input: never) => unknown;

/** Warnings of the runtime: each is a leak that the lane must not pass over. */
const warnings: string[] = [];
process.on("warning", (warning) => {
  // Said by the runtime about itself, not about what runs in it.
  if (warning.name !== "ExperimentalWarning") warnings.push(`${warning.name}: ${warning.message}`);
});

const COMMON: Record<string, Command> = {
  memory: () => memoryAfterCollection(),
  memoryNow: () => memoryNow(),
  warnings: () => warnings,
  processorMs: () => (process.cpuUsage().user + process.cpuUsage().system) / 1000,
};

/** The settings that the lane gave. */
export function settingsOf<T>(): T {
  // Written by the lane of this very program.
  return JSON.parse(process.argv[2] ?? "{}") as T;
}

/** Says that the program is ready and answers the lane's commands until the lane is gone. */
export function answerCommands(ready: unknown, own: Record<string, Command>): void {
  const commands: Record<string, Command> = { ...COMMON, ...own };
  const reply = (message: Reply) => process.connected && process.send?.(message);
  process.on("message", async ({ id, command, input }: { id: number; command: string; input: unknown }) => {
    try {
      // The lane sends each command what it takes.
      reply({ id, value: await commands[command]?.(input as never) });
    } catch (error) {
      reply({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
  });
  process.on("disconnect", () => process.exit(0));
  reply({ id: READY, value: ready });
}
