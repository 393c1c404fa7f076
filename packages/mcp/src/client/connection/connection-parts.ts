import type { Negotiation } from "../../era/negotiate/negotiation.js";
import type { Prior } from "../../era/negotiate/prior.js";
import type { Id, NotificationMessage, RequestMessage } from "../../jsonrpc/message.js";
import type { Platform } from "../../platform/platform.js";
import type { McpError } from "../../protocol/error.js";
import { MethodTable } from "../../protocol/methods.js";
import { REVISIONS } from "../../protocol/revisions.js";
import type { Transport } from "../../transport/transport.js";
import type { Answerer } from "../answers/answerer.js";
import type { ClientOptions } from "../options.js";
import type { ConnectionState } from "./connection-state.js";
import type { RevisionCache } from "./revision-cache.js";
import type { ServerRoute } from "./route.js";

/** What is told about a connection as it goes. No method may throw. */
export interface ConnectionEvents {
  notification(message: NotificationMessage, about: Id | undefined): void;
  /** A request of the server; gives the text of the answer, or an empty one where none may be sent. */
  request(message: RequestMessage): Promise<string>;
  fault(error: Error): void;
  state(state: ConnectionState, reason: Error | undefined): void;
  /** A new handshake stands, and calls wait until this settles: what lived in the old session is set up again. */
  recovered(reason: McpError): Promise<void>;
}

/** What a client connection is made of. */
export interface ConnectionParts {
  route: ServerRoute;
  options: ClientOptions;
  platform: Platform;
  answerer: Answerer;
  revisions: RevisionCache;
  events: ConnectionEvents;
}

const NAME = "parley";
const VERSION = "0.1.0";

/** The methods that a client with these options knows. */
export function methodsOf({ extensions = [] }: ClientOptions): MethodTable {
  return new MethodTable(extensions.flatMap((extension) => extension.methods ?? []));
}

/** What finding the era needs, from what the application said. */
export function negotiationOf(
  { options, platform, answerer }: ConnectionParts,
  methods: MethodTable,
  transport: Transport,
  prior: Prior | undefined,
  nextId: () => Id,
): Omit<Negotiation, "skipProbe"> {
  const { name = NAME, version = VERSION, revisions = REVISIONS, extensions = [] } = options;
  const headers = transport.kind === "http";
  return {
    transport,
    self: (revision) => ({ info: { name, version }, capabilities: answerer.capabilities(revision), headers }),
    methods,
    resultTypes: extensions.flatMap((extension) => extension.resultTypes ?? []),
    revisions,
    prior,
    platform,
    nextId,
  };
}
