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
function alone(drawing: SVGElement): string {
  const copy = drawing.cloneNode(true) as SVGElement;
  const [from, to] = [drawing.querySelectorAll("*"), copy.querySelectorAll("*")];
  from.forEach((node, at) => {
    const style = getComputedStyle(node), twin = to[at]!;
    for (const name of ["fill", "stroke", "font-size", "font-family", "opacity"]) twin.setAttribute(name, style.getPropertyValue(name));
  });
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  return new XMLSerializer().serializeToString(copy);
}

export function saveSvg(drawing: SVGElement, name: string): void { saveText(alone(drawing), "image/svg+xml", `${name}.svg`); }

export function saveText(text: string, type: string, name: string): void { save(new Blob([text], { type }), name); }

/** A drawing as pixels, twice as fine as it is shown. */
export function savePicture(drawing: SVGElement, name: string): void {
  const { width, height } = drawing.getBoundingClientRect(), picture = new Image();
  const source = alone(drawing).replace("<svg", `<svg width="${width * 2}" height="${height * 2}"`);
  picture.onload = () => {
    const canvas = document.createElement("canvas"), context = canvas.getContext("2d")!;
    [canvas.width, canvas.height] = [Math.max(1, width * 2), Math.max(1, height * 2)];
    context.fillStyle = getComputedStyle(document.body).backgroundColor;
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(picture, 0, 0);
    saveCanvas(canvas, name);
  };
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(source)}`;
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
