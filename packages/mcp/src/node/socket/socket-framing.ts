import { type Framing, LINES } from "../../transport/channel/stream-channel.js";
import { encodeContentLength } from "../../transport/framing/content-length.js";
import { SniffingDecoder } from "../../transport/framing/sniff.js";

/**
 * How messages are marked when written. `lines`: one message per line, as MCP recommends. `content-length`: a header with
 * the length before each, as LSP has it. `auto`, for servers: as the client writes, and lines until that is known.
 */
export type SocketFraming = "lines" | "content-length" | "auto";

/** The framing of one connection: what is written by name, and either form when reading, by its first bytes. */
export function framingNamed(name: SocketFraming): Framing {
  let decoder: SniffingDecoder | undefined;
  return {
    decoder(sink, options) {
      decoder = new SniffingDecoder(sink, options);
      return decoder;
    },
    encode(texts) {
      const chosen = name === "auto" ? (decoder?.framing ?? "lines") : name;
      return chosen === "lines" ? LINES.encode(texts) : texts.map(encodeContentLength).join("");
    },
  };
}
