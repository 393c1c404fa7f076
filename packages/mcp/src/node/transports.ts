import type { RuntimeTransports } from "../transport/runtime-transports.js";
import { nodeSender } from "./http/sender.js";
import { stdioTransport } from "./stdio/stdio-client.js";

/** For Node and for runtimes that stand in for it. */
export const transports: RuntimeTransports = {
  command: (target, platform) => stdioTransport(target, platform),
  sender: () => nodeSender(),
};
