// A server on pipes that a lane strikes down.
import { serveStruck } from "../../chaos/struck-process.js";

const [folder = "", name = ""] = process.argv.slice(2);
await serveStruck(folder, name);
