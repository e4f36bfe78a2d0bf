// Text on a canvas.

/** `text`, cut with an ellipsis to `width` pixels; empty when less than three signs would stay. */
export function fitting(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (context.measureText(text).width <= width) return text;
  for (let n = text.length - 1; n >= 2; --n) {
    const cut = `${text.slice(0, n)}…`;
    if (context.measureText(cut).width <= width) return cut;
  }
  return "";
}
