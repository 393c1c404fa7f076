import { thrownMessage } from "../../encoding/thrown-message.js";
import { internalsOf, type Server } from "../../server/server.js";
import { mountServer } from "../../server/sources/mount.js";
import type { RegistryView } from "./registry-http.js";

/** Mounts every server of a registry in `joint` under its name, and follows changes until `joint` is closed. */
export function jointServer(registry: Omit<RegistryView, "bind">, warn: (text: string) => void, joint: Server): Server {
  const internals = internalsOf(joint);
  const unmounts = new Map<string, () => void>();
  const unmount = (name: string) => {
    unmounts.get(name)?.();
    unmounts.delete(name);
  };
  const mount = (name: string) => {
    const server = registry.find(name);
    unmount(name);
    if (server === undefined) return;
    try {
      unmounts.set(name, mountServer(internals, name, internalsOf(server)));
    } catch (error) {
      warn(`the server "${name}" is left out of a joint server: ${thrownMessage(error)}`);
    }
  };
  for (const { name } of registry.list()) mount(name);
  const stop = registry.on(({ name }) => mount(name));
  joint.endpoint().onClosed?.(() => {
    stop();
    for (const name of [...unmounts.keys()]) unmount(name);
  });
  return joint;
}
