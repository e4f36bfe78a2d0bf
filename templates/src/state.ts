// What the reader chose, kept in the URL's hash so that a link shows the same view.

function parse(): URLSearchParams {
  return new URLSearchParams(location.hash.slice(1));
}

export function chosen<T extends string>(key: string, allowed: readonly T[], fallback: T): T {
  const value = parse().get(key);
  return allowed.find((option) => option === value) ?? fallback;
}

export function chosen_text(key: string): string {
  return parse().get(key) ?? "";
}

export function choose(key: string, value: string): void {
  const params = parse();
  if ((params.get(key) ?? "") === value) return;
  if (value === "") params.delete(key);
  else params.set(key, value);
  history.replaceState(null, "", `#${params.toString()}`);
}

/** "metrics.role": what a reader chooses of a section's parts. */
export function key_of(scope: string, label: string): string {
  return label === "" ? scope : `${scope}.${label.toLowerCase().replace(/\W+/g, "_")}`;
}
