import { type Client, type ClientOptions, connect, type Server } from "@parley/mcp";
import { onTestFinished } from "vitest";
import type { InspectorTarget, TargetHooks } from "../../src/connections/inspector-target.js";
import type { ActionInput, ActionName, ActionOutput, HandlerOutput } from "../../src/contract/actions.js";
import type { ConnectionInfo } from "../../src/contract/connections.js";
import type { InspectorState } from "../../src/contract/inspector-state.js";
import type { EntrySummary } from "../../src/contract/timeline.js";
import { type OpenedEngine, openEngine } from "../../src/engine/open-engine.js";
import type { InspectorOptions } from "../../src/inspector-options.js";
import { isFileStream } from "../../src/web/request-answers.js";

/** The newest revision of each era. */
export const ERAS = ["2025-11-25", "2026-07-28"] as const;

/** An engine as a test drives it: by actions, and by waiting for states. */
export interface DrivenEngine {
  readonly engine: OpenedEngine;
  act<N extends ActionName>(name: N, input: ActionInput<N>): Promise<ActionOutput<N>>;
  /** Waits until the state, looked at after each change, has what is looked for. */
  when<T>(look: (state: InspectorState) => T | undefined | false): Promise<T>;
  /** Waits until a connection has a status. */
  reaches(connection: string, status: ConnectionInfo["status"]): Promise<ConnectionInfo>;
  entries(): readonly EntrySummary[];
}

export function driveEngine(options: InspectorOptions = {}, pageFolder = "nowhere"): DrivenEngine {
  const engine = openEngine(options, pageFolder);
  onTestFinished(() => engine.close());
  const when = <T>(look: (state: InspectorState) => T | undefined | false) =>
    new Promise<T>((resolve) => {
      const check = () => {
        const found = look(engine.state());
        if (found === undefined || found === false) return;
        silence();
        resolve(found);
      };
      const silence = engine.onChange(check);
      check();
    });
  return {
    engine,
    act: async (name, input) => pageOutput(await engine.handlers[name](input)),
    when,
    reaches: (id, status) =>
      when(({ connections }) => connections.find((one) => one.id === id && one.status === status)),
    entries: () => engine.entries(0, Number.POSITIVE_INFINITY),
  };
}

/** What the page gets of the work of an action: a file as a whole. */
async function pageOutput<N extends ActionName>(given: HandlerOutput<N>): Promise<ActionOutput<N>> {
  // Both are of the same action, which the compiler cannot tell of a conditional type.
  if (!isFileStream(given)) return given as unknown as ActionOutput<N>;
  const { parts, ...file } = given;
  let text = "";
  for await (const part of parts) text += part;
  return { ...file, text } as unknown as ActionOutput<N>;
}

/** A target of the terminal that is a server of this process. */
export function serverTarget(server: Server): InspectorTarget {
  return { kind: "server", shown: "a server of this process", open: (options) => connect(server, options) };
}

/** A target of the terminal that is a program. */
export function programTarget(file: string, ...args: string[]): InspectorTarget {
  const command = [process.execPath, file, ...args];
  return {
    kind: "command",
    shown: `node ${args.join(" ")}`,
    command,
    open: (options: ClientOptions, { onStderr }: TargetHooks): Promise<Client> =>
      connect({ command: process.execPath, args: [file, ...args], stderr: onStderr }, options),
  };
}
