import { signal } from "@preact/signals";

const announcement = signal("");

/** Says something to those who listen to the page, without moving the focus. */
export function announce(text: string): void {
  // A region that keeps its text is not read again, so the same words get another end.
  announcement.value = announcement.value === text ? `${text}\u00a0` : text;
}

/** Where announcements are heard; once in the page. */
export function Announcer() {
  return (
    <output class="visually-hidden" aria-live="polite">
      {announcement.value}
    </output>
  );
}
