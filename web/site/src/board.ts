// A picture to share, in the page's own colours: 1200 by 630 pixels, as links show them.

export const WIDTH = 1200;
export const HEIGHT = 630;
export const EDGE = 64;

const NAMES = ["paper", "panel", "ink", "faint", "line", "accent", "plasma", "right"] as const;

export interface Board {
  readonly canvas: HTMLCanvasElement;
  readonly context: CanvasRenderingContext2D;
  readonly colours: Record<(typeof NAMES)[number], string>;
  /** Writes a line, of which what is wider than `width` is left out. */
  write(text: string, x: number, y: number, size: number, fill: string, weight?: number, width?: number): void;
}

/** Cuts a text to a width, with dots for what is left out. */
function cut(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (context.measureText(text).width <= width) return text;
  let end = text.length;
  while (end > 0 && context.measureText(`${text.slice(0, end)}…`).width > width) end -= 1;
  return `${text.slice(0, end)}…`;
}

/** A canvas takes colours, not custom properties: elements know what those come to. */
function coloursOfPage(): Board["colours"] {
  const probe = document.body.appendChild(document.createElement("span"));
  const colours = NAMES.map((name) => {
    probe.style.color = `var(--${name})`;
    return [name, getComputedStyle(probe).color];
  });
  probe.remove();
  return Object.fromEntries(colours) as Board["colours"];
}

export function board(): Board {
  const canvas = document.createElement("canvas");
  canvas.width = WIDTH;
  canvas.height = HEIGHT;
  const context = canvas.getContext("2d");
  if (!context) throw new Error("The browser cannot draw the picture.");
  const colours = coloursOfPage();
  const { fontFamily } = getComputedStyle(document.body);
  context.fillStyle = colours.paper;
  context.fillRect(0, 0, WIDTH, HEIGHT);
  context.fillStyle = colours.accent;
  context.fillRect(0, 0, WIDTH, 10);
  const write: Board["write"] = (text, x, y, size, fill, weight = 400, width = WIDTH - EDGE - x) => {
    context.font = `${weight} ${size}px ${fontFamily}`;
    context.fillStyle = fill;
    context.fillText(cut(context, text, width), x, y);
  };
  return { canvas, context, colours, write };
}

export async function saveCanvas(canvas: HTMLCanvasElement, name: string): Promise<void> {
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve));
  if (!blob) throw new Error("The browser cannot save the picture.");
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
