/** Browsers open six connections to one address. One is the stream of events, and some stay free for what never waits. */
const MOST_AT_ONCE = 4;
/** Requests of one server: one that never answers must not hold up the others. */
const MOST_OF_ONE = 2;

interface Turn {
  readonly server: string;
  readonly key: string;
  readonly result: Promise<unknown>;
  start(): void;
}

const waiting: Turn[] = [];
/** The servers of those that were sent, once for each. */
const sent: string[] = [];

/**
 * Sends a request that a server may leave unanswered for long, when it is its turn. One that waits already with the same key is
 * not sent twice.
 */
export function takeTurn<T>(server: string, key: string, send: () => Promise<T>): Promise<T> {
  const same = waiting.find((turn) => turn.key === key);
  // A key stands for one request, so that its result is of the same type.
  if (same !== undefined) return same.result as Promise<T>;
  let start = () => {};
  const result = new Promise<T>((resolve, reject) => {
    start = () => {
      send()
        .then(resolve, reject)
        .finally(() => {
          sent.splice(sent.indexOf(server), 1);
          startNext();
        });
    };
  });
  waiting.push({ server, key, result, start });
  startNext();
  return result;
}

function startNext(): void {
  while (sent.length < MOST_AT_ONCE) {
    const at = waiting.findIndex(({ server }) => sent.filter((one) => one === server).length < MOST_OF_ONE);
    const [turn] = at < 0 ? [] : waiting.splice(at, 1);
    if (turn === undefined) return;
    sent.push(turn.server);
    turn.start();
  }
}
