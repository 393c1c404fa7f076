import { type ChildProcess, fork, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";

const program = resolve(import.meta.dirname, "registry/serve.mjs");
const MAX_LOG_LENGTH = 10_000;

/** A package registry on loopback. */
export interface LoopbackRegistry {
  /** The address, with a slash at its end. */
  readonly url: string;
  /**
   * A whole environment for npm: it installs from this registry and may publish to it, with a cache, settings, home and
   * global folder of its own. Programs that are installed globally are on its path; those of this checkout are not.
   */
  readonly env: Record<string, string>;
  /** Stops the registry. Its packages stay in the folder. */
  close(): Promise<void>;
}

/**
 * Starts a package registry on loopback that stores its packages in `folder`. Packages of Parley exist only if they were
 * published to it; all others come from the registry that npm is configured with. Throws if the registry does not start.
 */
export async function startRegistry(folder: string): Promise<LoopbackRegistry> {
  if (!existsSync(join(program, "../node_modules/verdaccio"))) {
    throw new Error("the registry is not installed; fix: Run `npm run registry`.");
  }
  const [home, prefix] = [join(folder, "home"), join(folder, "global")];
  for (const path of [home, prefix]) mkdirSync(path, { recursive: true });
  const config = join(folder, "registry.yaml");
  // JSON is YAML.
  writeFileSync(config, JSON.stringify(configOf(folder), null, 2));
  const child = fork(program, [config], { cwd: folder, stdio: ["ignore", "pipe", "pipe", "ipc"], execArgv: [] });
  const url = `http://127.0.0.1:${await portOf(child)}/`;
  const close = () => stop(child);
  try {
    const userconfig = join(home, ".npmrc");
    writeFileSync(userconfig, `${url.slice("http:".length)}:_authToken=${await createUser(url)}\n`);
    return { url, env: environment({ url, folder, home, prefix, userconfig }), close };
  } catch (error) {
    await close();
    throw error;
  }
}

function configOf(folder: string): object {
  const npm = npmSettings("registry", "https-proxy", "proxy", "noproxy");
  const local = { access: "$all", publish: "$authenticated" };
  const { "https-proxy": secure, proxy, noproxy } = npm;
  return {
    storage: join(folder, "storage"),
    auth: { htpasswd: { file: join(folder, "users"), algorithm: "bcrypt", rounds: 4 } },
    uplinks: { configured: { url: npm["registry"], timeout: "60s", max_fails: 20, fail_timeout: "1s" } },
    // Without `proxy` a package of these names is never looked for elsewhere.
    packages: { "@parley/*": local, "create-parley": local, "**": { access: "$all", proxy: "configured" } },
    publish: { allow_offline: true },
    web: { enable: false },
    log: { type: "stdout", format: "json", level: "warn" },
    max_body_size: "50mb",
    ...(secure && { https_proxy: secure }),
    ...(proxy && { http_proxy: proxy }),
    ...(noproxy && { no_proxy: noproxy }),
  };
}

/** The settings of npm in this checkout; one that is not set is left out. */
function npmSettings(...names: string[]): Record<string, string> {
  const cwd = resolve(import.meta.dirname, "..");
  const options = { cwd, encoding: "utf8", shell: process.platform === "win32" } as const;
  const { status, stdout, stderr } = spawnSync("npm", ["config", "get", ...names], options);
  if (status !== 0) throw new Error(`npm config get ${names.join(" ")} failed: ${stderr}`);
  const pairs = stdout
    .trim()
    .split("\n")
    .map((line) => /^([^=\s]+) ?= ?(.*)$/.exec(line)?.slice(1) ?? []);
  return Object.fromEntries(pairs.filter(([, value]) => value && value !== "null" && value !== "undefined"));
}

async function portOf(child: ChildProcess): Promise<number> {
  let log = "";
  for (const output of [child.stdout, child.stderr]) {
    output?.on("data", (chunk: Buffer) => {
      log = (log + String(chunk)).slice(-MAX_LOG_LENGTH);
    });
  }
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`the registry ended with ${code} instead of starting: ${log.trim()}`);
  });
  const [port] = (await Promise.race([once(child, "message"), ended])) as [number];
  // It ends later, when it is stopped.
  ended.catch(() => {});
  return port;
}

/** Creates the one user who may publish, and returns the token. */
async function createUser(url: string): Promise<string> {
  const user = { name: "maintainer", password: crypto.randomUUID() };
  const response = await fetch(`${url}-/user/org.couchdb.user:${user.name}`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(user),
  });
  const body = await response.text();
  if (!response.ok) throw new Error(`the registry created no user (${response.status}): ${body}`);
  return (JSON.parse(body) as { token: string }).token;
}

function environment(options: Record<"url" | "folder" | "home" | "prefix" | "userconfig", string>) {
  const { url, folder, home, prefix, userconfig } = options;
  const plain = plainEnvironment();
  const programs = process.platform === "win32" ? prefix : join(prefix, "bin");
  return {
    ...plain,
    PATH: [programs, plain["PATH"]].join(delimiter),
    HOME: home,
    USERPROFILE: home,
    npm_config_registry: url,
    npm_config_userconfig: userconfig,
    npm_config_cache: join(folder, "cache"),
    npm_config_prefix: prefix,
    npm_config_audit: "false",
    npm_config_fund: "false",
    npm_config_update_notifier: "false",
  };
}

/**
 * The environment of the user's shell: an outer npm hands its own settings down, and puts the programs of this checkout first
 * on the path.
 */
export function plainEnvironment(): Record<string, string> {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^npm_|^(PATH|INIT_CWD|VITEST.*|NODE_ENV)$/i.test(name),
  );
  const path = (process.env["PATH"] ?? "").split(delimiter);
  const found = path.filter((folder) => !/node_modules[\\/]\.bin$|node-gyp-bin$/.test(folder));
  return { ...(Object.fromEntries(inherited) as Record<string, string>), PATH: found.join(delimiter) };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill();
  await ended;
}
