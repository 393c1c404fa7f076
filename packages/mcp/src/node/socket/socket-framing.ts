import { type Framing, LINES } from "../../transport/channel/stream-channel.js";
import { encodeContentLength } from "../../transport/framing/content-length.js";
import { SniffingDecoder } from "../../transport/framing/sniff.js";

/**
 * How messages are delimited when written. `lines`: one message per line, as MCP recommends. `content-length`: a header
 * with the length before each message, as in LSP. `auto`, for servers: the client's form, or lines until that is known.
 */
export type SocketFraming = "lines" | "content-length" | "auto";

/** The framing of one connection: writes the named form, and detects the form when reading. */
export function framingNamed(name: SocketFraming): Framing {
  let decoder: SniffingDecoder | undefined;
  return {
    decoder(sink, options) {
      decoder = new SniffingDecoder(sink, options);
      return decoder;
    },
    encode(texts) {
      const form = name === "auto" ? (decoder?.framing ?? "lines") : name;
      return form === "lines" ? LINES.encode(texts) : texts.map(encodeContentLength).join("");
    },
  };
}
