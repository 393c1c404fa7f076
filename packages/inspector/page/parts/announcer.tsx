import { signal } from "@preact/signals";

const announcement = signal("");

/** Announces a text to screen readers without moving the focus. */
export function announce(text: string): void {
  // Screen readers skip an unchanged live region, so a repeated text gets a trailing space.
  announcement.value = announcement.value === text ? `${text}\u00a0` : text;
}

/** The live region for announcements. Render it once per page. */
export function Announcer() {
  return (
    <output class="visually-hidden" aria-live="polite">
      {announcement.value}
    </output>
  );
}
