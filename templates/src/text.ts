// Text in pieces of one look each.

import { h } from "./dom";
import type { Text, TextRun } from "./model";
import { choose } from "./state";

export function text_nodes(text: Text): (Node | string)[] {
  return text.map((run) => (run.link === undefined ? toned(run) : section_link(run.link, run.text)));
}

/** A sentence whose words do not break at their hyphens, as those of a variant's name. */
export function sentence_nodes(sentence: Text): (Node | string)[] {
  return sentence.flatMap(({ text }) => text.split(/(\S*-\S*)/).map((part, i) => (i % 2 === 0 ? part : h("span", { class: "word" }, part))));
}

/** A command whose words break only where they are too long for a line. */
export function command_code(command: string): HTMLElement {
  const words = command.split(" ").flatMap((word, i) => [i === 0 ? "" : " ", h("span", { class: "word" }, word)]);
  return h("code", {}, ...words);
}

function toned({ text, tone }: TextRun): Node | string {
  switch (tone) {
    case undefined:
    case "":
      return text;
    case "strong":
    case "code":
      return h(tone, {}, text);
    default:
      return h("span", { class: tone }, text);
  }
}

/** Brings a section to the top and the keyboard with it. The URL keeps it. */
export function go_to(id: string): void {
  const section = document.getElementById(id);
  if (section === null) return;
  choose("at", id);
  section.scrollIntoView();
  section.querySelector("h2")?.focus({ preventScroll: true });
  section.querySelector("[data-arrives]")?.dispatchEvent(new Event("arrive"));
}

function section_link(id: string, text: string): HTMLElement {
  const click = (event: Event): void => {
    event.preventDefault();
    go_to(id);
  };
  return h("a", { href: `#at=${id}`, click }, text);
}
