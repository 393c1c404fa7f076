import type {
  AnswerFollower,
  AnswerStarted,
  ClientObserver,
  ConnectionChange,
  RequestFollower,
  RequestStarted,
} from "../client/contract/observer.js";
import { checkOptions } from "../protocol/check-options.js";
import { McpError } from "../protocol/error.js";
import type { Middleware } from "../server/call/middleware.js";
import type {
  CallFollower,
  CallRefused,
  CallStarted,
  Observer,
  SenderRefused,
  SessionClosed,
} from "../server/contract/observer.js";
import { partsOf } from "../server/server-parts.js";
import { AnswerSpan } from "./answer-span.js";
import { sessionAttributes } from "./attributes.js";
import { ClientSpan } from "./client-span.js";
import { recordCall } from "./content.js";
import type { OpenTelemetryApi } from "./open-telemetry-api.js";
import { Recorder } from "./recorder.js";
import { refusedSpan, ServerSpan } from "./server-span.js";

/** What `telemetry` records. */
export interface TelemetryOptions {
  /** Whether spans are made. Default: true. Without them the trace of a caller is still passed on. */
  spans?: boolean | undefined;
  /** Whether durations are recorded as metrics. Default: true. */
  metrics?: boolean | undefined;
  /**
   * Whether spans of tools and prompts get arguments and results, which may hold anything that users and models say. Default:
   * false.
   */
  content?: boolean | undefined;
}

/** Observes servers and clients: pass it to `server.observe`, and to `connect` or `Host` as `observe`. */
export interface Telemetry extends Observer, ClientObserver {}

const NAME = "@parley/mcp";
const VERSION = "0.1.0";

/**
 * Records spans and metrics by the semantic conventions of OpenTelemetry for MCP. `api` is the package `@opentelemetry/api`, as
 * `import * as api from "@opentelemetry/api"` gives it; the SDK that the program has registered there decides where they go.
 * Arguments and results are not recorded.
 */
export function telemetry(api: OpenTelemetryApi, options: TelemetryOptions = {}): Telemetry {
  checkOptions("telemetry", options, "spans metrics content");
  if (typeof api?.trace?.getTracer !== "function") {
    throw new McpError("invalid_definition", "`telemetry` was not given the API of OpenTelemetry", {
      fix: 'Write `import * as api from "@opentelemetry/api"` and `telemetry(api)`.',
    });
  }
  const recorder = new Recorder(api, NAME, VERSION, options);
  return {
    attached(server: object) {
      // The middleware of every server is of this type, whatever it says of `ctx.data`.
      if (options.content === true) partsOf(server).pipeline.middleware.push(recordCall(api) as Middleware);
    },
    follow: (call: CallStarted): CallFollower => new ServerSpan(recorder, call),
    refused: (call: CallRefused) => refusedSpan(recorder, call),
    senderRefused: (sender: SenderRefused) => recorder.countSender(sender),
    sessionClosed: ({ durationMs, protocolVersion, network, transport }: SessionClosed) =>
      recorder.recordAs(
        "mcp.server.session.duration",
        durationMs,
        sessionAttributes(protocolVersion, transport === "http" ? HTTP : network),
      ),
    request: (request: RequestStarted): RequestFollower => new ClientSpan(recorder, request, options.content === true),
    answer: (request: AnswerStarted): AnswerFollower => new AnswerSpan(recorder, request),
    state({ sessionMs, protocolVersion, network, reason, state }: ConnectionChange) {
      if (sessionMs === undefined) return;
      const attributes = sessionAttributes(protocolVersion, network);
      if (state !== "closed" && reason !== undefined) attributes["error.type"] = McpError.from(reason).kind;
      recorder.recordAs("mcp.client.session.duration", sessionMs, attributes);
    },
  };
}

const HTTP = { transport: "tcp", protocol: "http" } as const;
