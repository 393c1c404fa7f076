// Checks what a user of the inspector would install: packs @parley/inspector and @parley/mcp, lints the first and its types, and
// in a fresh project that has both, opens the page as a browser would, acts by it, and compiles a program.
//
// Usage: node scripts/check-inspector-package.mjs      after `npm run build`
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { compileProgram, installFresh, pack } from "./pack-package.mjs";
import { exportedNames } from "./package-files.mjs";

const root = resolve(import.meta.dirname, "..");
// Outside the repository, so that nothing of it can be found by accident.
const place = realpathSync(mkdtempSync(join(tmpdir(), "parley-inspector-package-")));
const installed = join(place, "node_modules/@parley/inspector");
const typedProgram = `
import { Server } from "@parley/mcp";
import { inspect, type Inspector, type InspectorTarget, startInspector } from "@parley/inspector";
const server = new Server({ name: "s", version: "1" });
const targets: InspectorTarget[] = [];
const opened: Inspector = await startInspector({ targets, port: 0 });
console.log(opened.url, (await inspect(server, { open: false })).url, (await server.inspect({ open: false })).url);
`;
/** Prints what became of the page, of an action, and of a request without keys. */
const program = `
import { Server } from "@parley/mcp";
const server = new Server({ name: "mine", version: "1" }).tool("greet", () => "hello");
const inspector = await server.inspect({ open: false });
const { origin, searchParams } = new URL(inspector.url);
const page = await fetch(inspector.url);
const cookie = page.headers.get("set-cookie").split(";")[0];
const files = await Promise.all(["/inspector.js", "/inspector.css"].map((path) => fetch(origin + path, { headers: { cookie } })));
const keys = { cookie, "x-parley-token": searchParams.get("token") };
const act = (name, input, headers) =>
  fetch(origin + "/api/" + name, { method: "POST", headers: { ...headers, origin, "content-type": "application/json" }, body: JSON.stringify(input) });
const events = await fetch(origin + "/api/events?from=0", { headers: keys });
let text = "";
let connection;
for await (const part of events.body.pipeThrough(new TextDecoderStream())) {
  text += part;
  const states = text.split("\\n").slice(0, -1).filter((line) => line !== "").map((line) => JSON.parse(line).state);
  connection = states.findLast((state) => state !== undefined)?.connections[0];
  if (connection?.status === "ready") break;
}
const listed = await (await act("list", { connection: connection.id, kind: "tools" }, keys)).json();
const refused = await act("list", {}, {});
await inspector.close();
console.log(JSON.stringify({ statuses: [page, ...files, refused].map(({ status }) => status), listed }));
`;

try {
  const [inspector, library] = ["inspector", "mcp"].map((name) => pack(name, place));
  const run = (tool, ...args) =>
    execFileSync(join(root, "node_modules/.bin", tool), args, { cwd: root, stdio: "inherit" });
  run("publint", "run", inspector, "--strict");
  run("attw", inspector, "--profile", "esm-only", "--format", "table-flipped", "--no-emoji");
  installFresh(place, inspector, library);
  checkContents();
  useIt();
  compileProgram(place, typedProgram);
} finally {
  rmSync(place, { recursive: true, force: true });
}

function checkContents() {
  const documents = ["README.md", "LICENSE", "CHANGELOG.md", "NOTICE"];
  expect(
    documents.every((name) => readFileSync(join(installed, name)).length > 0),
    "it has a README, a licence, a changelog and a notice",
  );
  const { dependencies } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
  expect(Object.keys(dependencies).join() === "@parley/mcp", "it depends on @parley/mcp alone");
  const page = readdirSync(join(installed, "dist/page")).sort().join();
  expect(page === "index.html,inspector.css,inspector.js", `the files of its page are ${page}`);
  const wanted = exportedNames(readFileSync(join(root, "packages/inspector/src/index.ts"), "utf8")).join();
  const built = exportedNames(readFileSync(join(installed, "dist/index.js"), "utf8")).join();
  expect(wanted === built, `it exports exactly ${wanted}`);
}

function useIt() {
  const options = { cwd: place, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"], timeout: 60_000 };
  const printed = execFileSync(process.execPath, ["--input-type=module", "-e", program], options);
  const { statuses, listed } = JSON.parse(printed);
  expect(statuses.join() === "200,200,200,401", `the page is served and the keys are asked for (${statuses})`);
  expect(listed.ok && JSON.stringify(listed.value).includes('"greet"'), "an action lists the tools of the server");
}

function expect(holds, what) {
  if (!holds) throw new Error(`@parley/inspector: it does not hold that ${what}`);
  console.log(what);
}
