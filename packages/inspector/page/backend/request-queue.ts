/**
 * Maximum number of concurrent slow requests. Browsers open at most six connections per host. One is the event stream,
 * and one remains for actions that finish at once.
 */
const MAX_CONCURRENT = 4;
/**
 * Maximum number of concurrent slow requests per server, so that one silent server does not block requests to other
 * servers.
 */
const MAX_PER_SERVER = 2;

interface QueuedRequest {
  readonly server: string;
  readonly key: string;
  readonly result: Promise<unknown>;
  start(): void;
}

const queued: QueuedRequest[] = [];
/** The server of each running request. */
const running: string[] = [];

/**
 * Sends a request that may wait long for a server, as soon as the limits allow it. If a request with the same key is
 * still queued, returns the result of that request instead of sending it twice.
 */
export function queueRequest<T>(server: string, key: string, send: () => Promise<T>): Promise<T> {
  const same = queued.find((turn) => turn.key === key);
  // A key identifies one request, so the result has the same type.
  if (same !== undefined) return same.result as Promise<T>;
  let start = () => {};
  const result = new Promise<T>((resolve, reject) => {
    start = () => {
      send()
        .then(resolve, reject)
        .finally(() => {
          running.splice(running.indexOf(server), 1);
          startNext();
        });
    };
  });
  queued.push({ server, key, result, start });
  startNext();
  return result;
}

function startNext(): void {
  while (running.length < MAX_CONCURRENT) {
    const at = queued.findIndex(({ server }) => running.filter((one) => one === server).length < MAX_PER_SERVER);
    const [turn] = at < 0 ? [] : queued.splice(at, 1);
    if (turn === undefined) return;
    running.push(turn.server);
    turn.start();
  }
}
