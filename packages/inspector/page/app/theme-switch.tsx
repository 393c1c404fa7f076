import { signal } from "@preact/signals";

const THEMES = ["system", "dark", "light"] as const;
type Theme = (typeof THEMES)[number];

const STORED = "parley-inspector-theme";
const theme = signal<Theme>("system");

/** Takes the theme that was chosen last; without one, the system decides. */
export function applyStoredTheme(): void {
  apply(THEMES.find((known) => known === stored()) ?? "system");
}

function apply(chosen: Theme): void {
  theme.value = chosen;
  if (chosen === "system") document.documentElement.removeAttribute("data-theme");
  else document.documentElement.dataset["theme"] = chosen;
}

/** A page that was saved as a file, or a strict browser, may have no storage. */
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
    // The choice holds until the page is closed.
  }
}

/** Chooses dark, light, or what the system has. */
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
