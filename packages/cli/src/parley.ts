import manifest from "../package.json" with { type: "json" };

const [first] = process.argv.slice(2);
// Answered before anything is loaded: scripts ask for it often.
if (first === "--version" || first === "-V") process.stdout.write(`${manifest.version}\n`);
else void import("./process-io.js").then(({ runProcess }) => runProcess());
