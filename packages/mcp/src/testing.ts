export { channelPair } from "./transport/in-memory.js";
