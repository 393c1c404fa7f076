import type { Storage } from "../../storage/storage.js";

/**
 * A part of a storage, for the transport of one name. Servers may share a storage, and a session of one must be unknown to
 * the others; nodes that use the same name share its sessions.
 */
export function namedStorage({ kv, log, pubsub }: Storage, name: string): Storage {
  const own = (key: string) => keyOfName(name, key);
  // Without `close`: whoever made the storage closes it.
  return {
    kv: {
      get: (key) => kv.get(own(key)),
      set: (key, value, options) => kv.set(own(key), value, options),
      delete: (key, options) => kv.delete(own(key), options),
      touch: (key, ttlMs) => kv.touch(own(key), ttlMs),
    },
    log: {
      append: (stream, entry, limits) => log.append(own(stream), entry, limits),
      read: (stream, afterId, limit) => log.read(own(stream), afterId, limit),
      touch: (stream, ttlMs) => log.touch(own(stream), ttlMs),
      drop: (stream) => log.drop(own(stream)),
    },
    pubsub: {
      publish: (topic, message) => pubsub.publish(own(topic), message),
      subscribe: (topic, deliver, onGap) => pubsub.subscribe(own(topic), deliver, onGap),
    },
  };
}

/** Names contain no slash and differ by more than case, so that no key of one is a key of another. */
function keyOfName(name: string, key: string): string {
  return `registry/${name.toLowerCase()}/${key}`;
}
