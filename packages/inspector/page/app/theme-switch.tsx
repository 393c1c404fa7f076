import { signal } from "@preact/signals";

const THEMES = ["system", "dark", "light"] as const;
type Theme = (typeof THEMES)[number];

const STORED = "parley-inspector-theme";
const theme = signal<Theme>("system");

/** Applies the stored theme. Default: the theme of the system. */
export function applyStoredTheme(): void {
  apply(THEMES.find((known) => known === stored()) ?? "system");
}

function apply(chosen: Theme): void {
  theme.value = chosen;
  if (chosen === "system") document.documentElement.removeAttribute("data-theme");
  else document.documentElement.dataset["theme"] = chosen;
}

/**
 * Returns the stored theme, or null if the storage is unavailable: in a page that was saved as a file, or because of a
 * browser setting.
 */
function stored(): string | null {
  try {
    return localStorage.getItem(STORED);
  } catch {
    return null;
  }
}

function choose(chosen: Theme): void {
  apply(chosen);
  try {
    localStorage.setItem(STORED, chosen);
  } catch {
    // Without storage the choice lasts until the page is closed.
  }
}

/** Selects the dark, light or system theme. */
export function ThemeSwitch() {
  return (
    <select
      class="app-theme"
      aria-label="Theme"
      value={theme.value}
      onChange={(event) => choose(THEMES.find((known) => known === event.currentTarget.value) ?? "system")}
    >
      {THEMES.map((known) => (
        <option key={known} value={known}>
          {known} theme
        </option>
      ))}
    </select>
  );
}
