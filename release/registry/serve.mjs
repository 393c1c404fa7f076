// Serves a package registry on a free port of loopback, and sends the port to the process that started it.
//
// Usage: release/registry.ts starts it, with the path of a configuration.
import { once } from "node:events";
import { runServer } from "verdaccio";

// A parent that dies closes the channel, and must leave no registry behind.
process.on("disconnect", () => process.exit());
const server = await runServer(process.argv[2]);
server.listen(0, "127.0.0.1");
await once(server, "listening");
process.send(server.address().port);
