// What the reader unfolded and where the focus is outlive a page that is drawn anew.

/** Child numbers from the nearest part of the page that has a name. */
function place_of(element: Element): string {
  const steps: number[] = [];
  let at = element;
  while (at.id === "" && at !== document.body && at.parentElement !== null) {
    steps.unshift([...at.parentElement.children].indexOf(at));
    at = at.parentElement;
  }
  return `${at.id}/${steps.join("/")}`;
}

function element_at(place: string): Element | undefined {
  const [id = "", ...steps] = place.split("/");
  let at: Element | undefined = (id === "" ? document.body : document.getElementById(id)) ?? undefined;
  for (const step of steps) if (step !== "") at = at?.children[Number(step)];
  return at;
}

/** Folds are known by their section and their words, since others may appear before them. */
function folds(): Map<string, HTMLDetailsElement> {
  const found = new Map<string, HTMLDetailsElement>();
  for (const details of document.querySelectorAll("details")) {
    const name = `${details.closest("section[id]")?.id ?? ""} ${details.querySelector("summary")?.textContent ?? ""}`;
    let key = name;
    for (let n = 2; found.has(key); ++n) key = `${name} ${n}`;
    found.set(key, details);
  }
  return found;
}

/** What puts folds, focus and scrolling back as they are now. */
export function keep_reading(): () => void {
  const open = new Map([...folds()].map(([key, details]) => [key, details.open]));
  const focused = document.activeElement;
  const place = focused === null || focused === document.body ? null : place_of(focused);
  const { scrollX: left, scrollY: top } = window;
  return () => {
    for (const [key, details] of folds()) {
      const was = open.get(key);
      if (was !== undefined) details.open = was;
    }
    const again = place === null ? undefined : element_at(place);
    if (again instanceof HTMLElement) again.focus({ preventScroll: true });
    window.scrollTo({ left, top, behavior: "instant" });
  };
}

export function keeping(draw: () => void): void {
  const restore = keep_reading();
  draw();
  restore();
}
