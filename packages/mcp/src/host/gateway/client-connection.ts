import type { ClientCapabilities } from "../../protocol/capabilities.js";
import { ServerCall } from "../../server/call/server-call.js";
import { withAsking } from "../../server/questions/with-asking.js";
import type { Exchange, Peer } from "../../transport/transport.js";
import type { PassedCall } from "../connection/remote-connection.js";
import type { RemoteServer } from "../connection/remote-server.js";
import { callerOf } from "./pass-on.js";

/**
 * The connection of a server for a call of a gateway's client. Over a connection that only this client uses, the server may also
 * ask outside of calls, for example for roots after the handshake: the client is asked on its own session.
 */
export function clientConnection(
  server: RemoteServer,
  call: ServerCall,
  askable: ClientCapabilities,
): ReturnType<RemoteServer["connection"]> {
  const { peer } = call.exchange;
  if (server.parts.isolation === "client" && peer?.session !== undefined) {
    server.answersOutside(peer, outsideCall(call, peer));
  }
  return server.connection(askable, callerOf(call), call.exchange.signal);
}

/** Asks the client of `call` by requests that belong to none of its calls. */
function outsideCall({ owner, request, row }: ServerCall, peer: Peer): PassedCall {
  let asked = 0;
  return {
    caller: peer,
    ask(question, signal) {
      const exchange: Exchange = {
        id: request.id,
        signal,
        peer,
        principal: peer.principal,
        say: (text) => peer.say(text),
        ask: (outgoing) => peer.ask(outgoing),
      };
      asked++;
      const own = new ServerCall(owner, request, row, exchange);
      const key = `gateway.outside.${asked}`;
      // Raw answers are objects: askers refuse anything else.
      return withAsking(({ forwardQuestion }) => forwardQuestion(own, question, key)) as Promise<object>;
    },
    // Messages outside of a call have no caller whose log level they could pass.
    log() {},
  };
}
