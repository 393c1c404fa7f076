import type { RuntimeTransports } from "../../transport/runtime-transports.js";
import { nodeSender } from "../http/sender.js";
import { stdioTransport } from "../stdio/stdio-client.js";

/** The transports of Node and of compatible runtimes. */
export const transports: RuntimeTransports = {
  command: (target, platform) => stdioTransport(target, platform),
  sender: () => nodeSender(),
};
