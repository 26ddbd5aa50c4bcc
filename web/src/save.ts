// Saves a picture or its data as a file.

function save(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

export function saveCanvas(canvas: HTMLCanvasElement, name: string): void {
  canvas.toBlob((blob) => { if (blob) save(blob, `${name}.png`); }, "image/png");
}

/** A drawing that stands alone: the colours that the page's style gives are written into it. */
export function saveSvg(drawing: SVGElement, name: string): void {
  const copy = drawing.cloneNode(true) as SVGElement;
  const [from, to] = [drawing.querySelectorAll("*"), copy.querySelectorAll("*")];
  from.forEach((node, at) => {
    const style = getComputedStyle(node), twin = to[at]!;
    for (const name of ["fill", "stroke", "font-size", "font-family", "opacity"]) twin.setAttribute(name, style.getPropertyValue(name));
  });
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  save(new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" }), `${name}.svg`);
}

/** A cell of a CSV file. What a spreadsheet would take for a formula is quoted as text. */
export function cell(value: string | number): string {
  const text = typeof value === "number" ? String(value) : /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csv(rows: (string | number)[][]): string {
  return rows.map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
}

export function saveCsv(rows: (string | number)[][], name: string): void {
  save(new Blob([csv(rows)], { type: "text/csv" }), `${name}.csv`);
}
