import { type ParamHeader, paramHeaderTable } from "../../era/param-headers.js";
import { promisesObject } from "../../era/wrapped-output.js";
import { isObject } from "../../jsonrpc/message.js";
import { TASKS } from "../../protocol/features/tasks.js";
import type { Tool } from "../../protocol/features/tools.js";
import type { ServerCall } from "../../server/call/server-call.js";
import type { MountableServer } from "../../server/sources/mount.js";
import type { TaskSupport } from "../../server/tools/tool.js";
import type { HostCatalogue } from "../catalogue/host-catalogue.js";

/** What calls of a tool have to know of its entry in the list. */
interface ListedTool {
  readonly headers: readonly ParamHeader[];
  readonly wrapsOutput: boolean;
}

/** What this server has to know of the tools of the servers behind it. */
export class RemoteTools {
  readonly #own: MountableServer;
  readonly #catalogue: HostCatalogue;
  readonly #known = new WeakMap<Tool, ListedTool>();
  /** The support of tasks that extensions were told of, by tool. */
  readonly #tasks = new Map<string, TaskSupport>();
  #listed: readonly Tool[] | undefined;
  #shownOf: readonly Tool[] = [];
  #shown: readonly Tool[] = [];

  constructor(own: MountableServer, catalogue: HostCatalogue) {
    this.#own = own;
    this.#catalogue = catalogue;
    own.offers.tools.elsewhere = (name) => {
      // Extensions ask this before they look for what they were told of the tool.
      this.learn();
      return catalogue.find("tools", name) !== undefined;
    };
  }

  /** Tells extensions which tools may run as tasks. */
  learn(): void {
    const tools = this.#catalogue.all("tools");
    if (tools === this.#listed) return;
    this.#listed = tools;
    const { registry } = this.#own;
    if (registry.toolChanged === undefined) return;
    const before = new Set(this.#tasks.keys());
    for (const tool of tools) {
      const support = this.#supportOf(tool);
      before.delete(tool.name);
      if (support === undefined || this.#tasks.get(tool.name) === support) continue;
      this.#tasks.set(tool.name, support);
      const task = { support, begin: "handler" } as const;
      // It is served by this feature; extensions look at its definition alone.
      const handler = () => undefined;
      registry.toolChanged(tool.name, { kind: "tool", name: tool.name, definition: { task }, handler });
    }
    for (const name of before) {
      this.#tasks.delete(name);
      registry.toolChanged(name);
    }
  }

  /** The entries for the list: what they say of tasks is for extensions of this server to say. */
  entries(tools: readonly Tool[]): readonly Tool[] {
    if (tools !== this.#shownOf) {
      this.#shownOf = tools;
      this.#shown = tools.map(({ execution: _tasks, ...tool }) => tool);
    }
    return this.#shown;
  }

  /** Refuses a call whose headers differ from its arguments. */
  check(call: ServerCall): void {
    const { name, arguments: args = {} } = call.request.params;
    const { http } = call.exchange;
    const tool = typeof name === "string" ? this.#catalogue.find("tools", name)?.item : undefined;
    if (tool === undefined || http === undefined || !isObject(args)) return;
    const { headers } = this.#of(tool);
    if (headers.length > 0) call.request.era.checkArguments(headers, args, http);
  }

  /** Prepares the answer to a call of a tool. */
  prepare(name: string, call: ServerCall): void {
    const tool = this.#catalogue.find("tools", name)?.item;
    if (tool !== undefined && this.#of(tool).wrapsOutput) call.root.request.wrapsOutput = true;
  }

  #of(tool: Tool): ListedTool {
    let known = this.#known.get(tool);
    if (known === undefined) {
      const { inputSchema, outputSchema } = tool;
      const table = paramHeaderTable(inputSchema);
      known = {
        headers: "problem" in table ? [] : table.headers,
        wrapsOutput: isObject(outputSchema) && !promisesObject(outputSchema),
      };
      this.#known.set(tool, known);
    }
    return known;
  }

  /** Some revisions say it for each tool; in the others any tool of a server with the extension may run as a task. */
  #supportOf(tool: Tool): TaskSupport | undefined {
    const found = this.#catalogue.find("tools", tool.name);
    const about = found && this.#catalogue.of(found.server).about;
    const listed = tool.execution?.taskSupport;
    if (listed === "optional" || listed === "required") return listed;
    const { extensions } = about?.capabilities ?? {};
    return extensions !== undefined && Object.hasOwn(extensions, TASKS.id) ? "optional" : undefined;
  }
}
