import manifest from "../package.json" with { type: "json" };

const [first] = process.argv.slice(2);
// Scripts request the version often, so print it before loading anything else.
if (first === "--version" || first === "-V") process.stdout.write(`${manifest.version}\n`);
else void import("./process-io.js").then(({ runProcess }) => runProcess());
