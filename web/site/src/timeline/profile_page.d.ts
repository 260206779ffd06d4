declare module "virtual:profile-page" {
  /** The markup that is drawn into. Its scripts read the data from an element "data". */
  export const markup: string;
  /** Draws the data into the markup, both of which must be in the document. */
  export function draw(): {
    steps: { us: number; layer: number | null; kernel: string }[];
    select(index: number): void;
    selected(): number;
  };
}
