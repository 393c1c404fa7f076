import { createServer, type RequestListener } from "node:http";
import type { AddressInfo, Server as NetServer } from "node:net";
import { onTestFinished } from "vitest";
import type { Finding, Step } from "../../src/doctor/checkup.js";
import { type RunOptions, runParley } from "../kit/run-parley.js";

/** What `parley doctor --json` gave. */
export interface Examined {
  readonly code: number;
  readonly ok: boolean;
  readonly steps: readonly Step[];
  readonly server: { readonly name?: string; readonly revision?: string };
  readonly broken?: Finding & { readonly step: string };
  /** The codes of all warnings, in order. */
  readonly warnings: readonly string[];
}

/** Runs `parley doctor --json` and reads its answer. */
export async function examine(args: readonly string[], options: RunOptions = {}): Promise<Examined> {
  const { code, stdout, stderr } = await runParley(["doctor", "--json", ...args], options);
  if (stderr !== "") throw new Error(`doctor wrote on stderr: ${stderr}`);
  // The form that the documentation of the command promises.
  const answer = JSON.parse(stdout) as Omit<Examined, "code" | "warnings">;
  const warnings = answer.steps.flatMap(({ findings }) => findings.map((finding) => finding.code));
  return { ...answer, code, warnings: warnings.filter((one) => one !== answer.broken?.code) };
}

/** The status of each step, by its name. */
export function statuses({ steps }: Examined): Record<string, string> {
  return Object.fromEntries(steps.map(({ step, status }) => [step, status]));
}

/** Serves on a port of this machine until the test ends, and gives its origin. */
export async function serveRequests(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${await portOf(server)}`;
}

/** Listens on a free port of this machine, and gives it. */
export async function portOf(server: NetServer): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A server that listens on TCP has an address object.
  return (server.address() as AddressInfo).port;
}
