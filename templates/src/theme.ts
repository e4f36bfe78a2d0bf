// Light or dark: as the system is, or as the reader chose.

export const themes = ["auto", "light", "dark"] as const;
export type Theme = (typeof themes)[number];

const dark = matchMedia("(prefers-color-scheme: dark)");
let wanted: Theme = "auto";

export function theme(): Theme {
  return wanted;
}

/** `shown` for the moment, on paper; else what is wanted. */
export function apply_theme(shown: Theme = wanted): void {
  document.documentElement.dataset["theme"] = shown !== "auto" ? shown : dark.matches ? "dark" : "light";
}

export function choose_theme(chosen: Theme): void {
  wanted = chosen;
  apply_theme();
}

/** Charts have their colours from the theme: `redraw` follows the system. */
export function follow_system(redraw: () => void): void {
  apply_theme();
  dark.addEventListener("change", () => {
    apply_theme();
    redraw();
  });
}
