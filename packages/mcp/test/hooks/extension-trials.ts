import type { ClientOptions, HandlerContext } from "@parley/mcp";
import { type ConnectedExtension, defineExtension, ExtensionResult, type ServedExtension } from "@parley/mcp/extension";
import { tasks } from "@parley/mcp/tasks";
import { add, emptyServer, type Failing, outcome, plainServer, type Trial, withClient } from "./trial.js";

const ROW = { method: "com.example/go", kind: "request", sender: "client", first: "2024-11-05" } as const;
const ID = "com.example/x";

const extension = (parts: Partial<Parameters<typeof defineExtension>[0]>) =>
  defineExtension({
    id: ID,
    settings: {},
    methods: [ROW],
    resultTypes: ["voucher"],
    listenFilters: ["vouchers"],
    ...parts,
  });

const serving =
  (made: (fail: Failing) => ServedExtension, work: Parameters<typeof withClient>[2] = add): Trial =>
  (fail) =>
    outcome(async () => {
      const server = plainServer({ extensions: [extension({ server: () => made(fail) })] });
      const ended = await withClient(server, { extensions: [extension({})] }, work);
      if (ended !== "fine") throw new Error(ended);
      await server.close();
    }).then((ended) => ended.replace(/^bare Error: (error|bare|tool)/, "$1"));

const connecting =
  (made: (fail: Failing) => ConnectedExtension<undefined>): Trial =>
  (fail) => {
    const giving = extension({
      server: () => ({ around: { "tools/call": () => new ExtensionResult("voucher", {}) } }),
    });
    return withClient(
      plainServer({ extensions: [giving] }),
      { extensions: [extension({ client: () => made(fail) })] },
      add,
    );
  };

/** A tool that runs as a task, with a failing function somewhere. */
const asTask =
  (options: ClientOptions, work: (args: unknown, ctx: HandlerContext) => unknown): Trial =>
  async () => {
    const server = emptyServer({ extensions: [tasks({ pollIntervalMs: 20, askByTask: true })] });
    server.tool("t", { task: "required" }, async (args, ctx) => String(await work(args, ctx)));
    const ended: string[] = [];
    for (const revision of ["2026-07-28", "2025-11-25"] as const) {
      const own = { extensions: [tasks({ pollIntervalMs: 20 })], revisions: [revision], ...options };
      ended.push(await withClient(server, own, (client) => client.callTool("t", {})));
    }
    await server.close();
    return [...new Set(ended)].join("; with sessions ");
  };

const FORM = { type: "object", properties: { name: { type: "string" } } } as const;

/** Functions of extensions, and those of applications that tasks call, which somebody waits for. */
export const EXTENSION_ANSWER_TRIALS: Readonly<Record<string, readonly [trial: Trial, ended: string]>> = {
  "ExtensionDefinition.server": [
    (fail) => outcome(() => emptyServer({ extensions: [extension({ server: fail })] })),
    "error invalid_definition",
  ],
  "ExtensionDefinition.client": [
    (fail) => withClient(plainServer(), { extensions: [extension({ client: fail })] }, add),
    "error invalid_definition",
  ],
  "ExtensionDefinition.server, handlers": [
    serving(
      (fail) => ({ handlers: { "com.example/go": fail } }),
      (client) => client.request("com.example/go"),
    ),
    "error internal_error",
  ],
  "ExtensionDefinition.server, around": [
    serving((fail) => ({ around: { "tools/call": fail } })),
    "error internal_error",
  ],
  "ExtensionDefinition.server, toolOptions": [
    serving((fail) => ({ toolOptions: { task: fail } })),
    "error invalid_definition",
  ],
  "ExtensionDefinition.server, toolChanged": [serving((fail) => ({ toolChanged: fail })), "fine"],
  "ExtensionDefinition.server, listenValues": [
    serving(
      (fail) => ({ listenValues: { vouchers: fail } }),
      (client) => client.request("subscriptions/listen", { notifications: { vouchers: ["v"] } }),
    ),
    "error internal_error",
  ],
  "ExtensionDefinition.server, close": [serving((fail) => ({ close: fail })), "bare Error: boom"],
  "ExtendedServer.run(prepare)": [
    (fail) => {
      const running = extension({
        server: (server) => ({
          around: { "tools/call": ({ request, exchange }) => server.run(request, exchange, fail) },
        }),
      });
      return withClient(plainServer({ extensions: [running] }), {}, add);
    },
    "error internal_error",
  ],
  "ExtensionDefinition.client, capabilities": [
    connecting((fail) => ({ capabilities: fail })),
    "error invalid_definition",
  ],
  "ExtensionDefinition.client, outgoing": [
    connecting((fail) => ({ outgoing: { "tools/call": fail } })),
    "error internal_error",
  ],
  "ExtensionDefinition.client, completes": [
    connecting((fail) => ({ completes: { voucher: fail } })),
    "error internal_error",
  ],
  "Server.tool(handler), as a task": [(fail) => asTask({}, fail)(fail), "tool error"],
  "HandlerContext.step(work), of a task": [
    (fail) => asTask({}, (_args, ctx) => ctx.step("one", fail))(fail),
    "tool error",
  ],
  "ClientOptions.onElicit, as a task": [
    (fail) => asTask({ onElicit: fail }, (_args, ctx) => ctx.elicit("Who?", FORM))(fail),
    "error misuse; with sessions tool error",
  ],
};

const served = (use: Parameters<typeof extension>[0]["server"], work = add): Trial => {
  return () =>
    withClient(plainServer({ extensions: [extension({ ...(use === undefined ? {} : { server: use }) })] }), {}, work);
};

/** Functions of extensions whose result nobody waits for. */
export const EXTENSION_HOOK_TRIALS: Readonly<Record<string, Trial>> = {
  "ExtendedServer.whenAnswered(act)": (fail) =>
    served((server) => ({
      around: {
        "tools/call": (call, next) => {
          server.whenAnswered(call, fail);
          return next();
        },
      },
    }))(fail),
  "ExtendedServer.subscribe(act)": (fail) =>
    served((server) => ({
      around: {
        async "tools/call"(_call, next) {
          await server.subscribe("vouchers", "v", fail);
          server.publish({ filter: "vouchers", value: "v", method: "notifications/com.example/v" });
          return next();
        },
      },
    }))(fail),
  "ExtendedClient.on(listener)": (fail) => {
    const listening = extension({
      client: (client) => {
        client.on("notifications/tools/list_changed", fail);
        return {};
      },
    });
    const server = plainServer();
    return withClient(server, { revisions: ["2025-11-25"], extensions: [listening] }, async (client) => {
      server.tool("more", {}, () => "");
      await new Promise((resolve) => setTimeout(resolve, 50));
      return add(client);
    });
  },
  "ClientCore.notifications": (fail) =>
    withClient(plainServer(), { logLevel: "debug" }, (client) => add(client.useNotifications(fail))),
  "ClientCore.notifications, of a server": (fail) =>
    withClient(plainServer().useNotifications(fail), { logLevel: "debug" }, add),
  "ExtensionDefinition.client, close": (fail) =>
    withClient(plainServer(), { extensions: [extension({ client: () => ({ close: fail }) })] }, add),
};
