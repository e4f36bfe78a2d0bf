// Text on a canvas.

/** `text`, cut with an ellipsis to `width` pixels; empty when less than three signs would stay. */
export function fitting(context: CanvasRenderingContext2D, text: string, width: number): string {
  // No sign is narrower than a pixel: of ten kilobytes of template arguments most need no measuring.
  const whole = text.length <= width;
  if (whole && context.measureText(text).width <= width) return text;
  let [fits, too_long] = [1, Math.min(text.length, Math.ceil(width) + 1)];
  while (too_long - fits > 1) {
    const middle = (fits + too_long) >> 1;
    if (context.measureText(`${text.slice(0, middle)}…`).width <= width) fits = middle;
    else too_long = middle;
  }
  return fits < 2 ? "" : `${text.slice(0, fits)}…`;
}
