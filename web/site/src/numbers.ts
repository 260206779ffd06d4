// Numbers as people read them.

/** "18.1 MB"; decimal, as browsers and hubs count. */
export function bytes(count: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  let value = count;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

/** "6.25 ms", "850 ms", "2.4 s", "3 min 5 s" */
export function seconds(value: number): string {
  if (value < 1e-3) return `${Math.round(value * 1e6)} µs`;
  if (value < 1) return `${figure(value * 1000)} ms`;
  if (value < 60) return `${value.toFixed(1)} s`;
  return `${Math.floor(value / 60)} min ${Math.round(value % 60)} s`;
}

/** Three digits that count: "0.532", "42.1", "1,906" */
export function figure(value: number): string {
  return value.toLocaleString("en", { maximumSignificantDigits: Math.max(3, Math.ceil(Math.log10(Math.abs(value) + 1))) });
}
