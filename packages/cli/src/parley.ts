import manifest from "../package.json" with { type: "json" };

const [first] = process.argv.slice(2);
// Scripts request the version often, so print it before loading anything else.
if (first === "--version" || first === "-V") process.stdout.write(`${manifest.version}\n`);
else void start();

async function start(): Promise<void> {
  const [{ runProcess }, { runProgram }] = await Promise.all([import("./process-io.js"), import("./program.js")]);
  await runProcess(runProgram);
}
