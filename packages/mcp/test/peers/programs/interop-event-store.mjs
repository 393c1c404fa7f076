/** Keeps every event in memory, so that a server of the official SDK lets clients come back to a stream. */
export class MemoryEventStore {
  #events = [];

  async storeEvent(streamId, message) {
    this.#events.push({ streamId, message });
    return String(this.#events.length);
  }

  async getStreamIdForEventId(eventId) {
    return this.#events[Number(eventId) - 1]?.streamId;
  }

  async replayEventsAfter(lastEventId, { send }) {
    const at = Number(lastEventId);
    const { streamId } = this.#events[at - 1];
    for (const [index, event] of this.#events.entries()) {
      const wanted = index >= at && event.streamId === streamId;
      // A priming event has an id and no message.
      if (wanted && event.message?.jsonrpc !== undefined) await send(String(index + 1), event.message);
    }
    return streamId;
  }
}
