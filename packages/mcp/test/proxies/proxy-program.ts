import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "../free-port.js";

const PAGE = fileURLToPath(new URL("../../../../docs/several-nodes.md", import.meta.url));
const START_MS = 10_000;

export type ProxyName = "nginx" | "caddy";

/** A proxy with the configuration of the guide, in front of nodes at these ports. */
export interface ProxyProgram {
  readonly url: string;
  /** Takes one node out of service, or all into it, as an operator does: by a new configuration. */
  without(at: number | undefined): Promise<void>;
  stop(): Promise<void>;
}

export function isInstalled(name: ProxyName): boolean {
  try {
    execFileSync(name, [name === "nginx" ? "-v" : "version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

export async function startProxy(name: ProxyName, ports: readonly number[]): Promise<ProxyProgram> {
  const folder = mkdtempSync(join(tmpdir(), `parley-${name}-`));
  const port = await freePort();
  const file = join(folder, "config");
  writeFileSync(file, (name === "nginx" ? nginxConfig : caddyConfig)(folder, port, ports));
  const args = name === "nginx" ? ["-p", folder, "-c", file] : ["run", "--adapter", "caddyfile", "--config", file];
  const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const child = spawn(name, args, { stdio: ["ignore", "ignore", "pipe"], env });
  let said = "";
  child.stderr?.on("data", (chunk) => {
    said = (said + String(chunk)).slice(-4_000);
  });
  const stop = async () => {
    await end(child);
    rmSync(folder, { recursive: true, force: true });
  };
  if (!(await listens(port, child))) {
    await stop();
    throw new Error(`${name} did not start: ${said}`);
  }
  const without = async (at: number | undefined) => {
    // Caddy looks at the health of nodes by itself.
    if (name === "caddy") return;
    const isOut = ` 127.0.0.1:${at === undefined ? "" : ports[at]};`;
    writeFileSync(file, nginxConfig(folder, port, ports).replace(isOut, isOut.replace(";", " down;")));
    const before = workersOf(child);
    child.kill("SIGHUP");
    const until = performance.now() + START_MS;
    const isNew = () => workersOf(child).some((pid) => !before.includes(pid));
    while (!isNew() && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 10));
  };
  return { url: `http://127.0.0.1:${port}/mcp`, without, stop };
}

/** The processes that nginx has started: a new configuration is in use when there is a new one. */
function workersOf({ pid }: ChildProcess): string[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
}

/** The block of the guide in this language, with the addresses of this test in place of those of the example. */
function configOf(language: string, ports: readonly number[]): string {
  const block = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "m").exec(readFileSync(PAGE, "utf8"))?.[1];
  if (block === undefined) throw new Error(`the guide has no configuration for ${language}`);
  return block.replace(/10\.0\.0\.1(\d):3000/g, (_, at: string) => `127.0.0.1:${ports[Number(at) - 1]}`);
}

function nginxConfig(folder: string, port: number, ports: readonly number[]): string {
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  return [
    "daemon off;",
    `pid ${folder}/pid;`,
    "error_log stderr warn;",
    "events { worker_connections 256; }",
    "http {",
    "access_log off;",
    ...paths.map((path) => `${path}_temp_path ${folder}/${path};`),
    configOf("nginx", ports).replace("listen 80;", `listen 127.0.0.1:${port};`),
    "}",
  ].join("\n");
}

function caddyConfig(_folder: string, port: number, ports: readonly number[]): string {
  const site = configOf("caddyfile", ports)
    .replace("http://tools.example.com", `http://127.0.0.1:${port}`)
    .replace("health_interval 1s", "health_interval 50ms");
  return `{\n  admin off\n}\n${site}`;
}

async function listens(port: number, child: ChildProcess): Promise<boolean> {
  const until = performance.now() + START_MS;
  while (performance.now() < until && child.exitCode === null) {
    const socket = connect(port, "127.0.0.1");
    const open = await new Promise<boolean>((resolve) => {
      socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    });
    socket.destroy();
    if (open) return true;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return false;
}

function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    const force = setTimeout(() => child.kill("SIGKILL"), 3_000);
    child.once("exit", () => {
      clearTimeout(force);
      resolve();
    });
    child.kill("SIGTERM");
  });
}
