// Builds elements. Text always goes in as text: nothing from a log is ever read as HTML.

type Child = Node | string | null | undefined | false;
type Value = string | number | boolean | null | undefined | ((event: Event) => void);

function fill(node: Element, attributes: Record<string, Value>, children: readonly Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, String(value));
  }
  for (const child of children) if (child) node.append(child);
}

export function h<K extends keyof HTMLElementTagNameMap>(
  name: K, attributes: Record<string, Value> = {}, ...children: Child[]
): HTMLElementTagNameMap[K] {
  const node = document.createElement(name);
  fill(node, attributes, children);
  return node;
}

/** What tells an element from its neighbours when they are made anew. */
function mark(node: Element): string { return `${node.tagName} ${node.getAttribute("aria-label") ?? node.textContent ?? ""}`; }

/** Puts other children in place of those that are there. Whoever came by keyboard stays on the same one, or, where it is
 *  gone, on the one at its place. */
export function renew(parent: Element, ...children: (Node | string)[]): void {
  const reachable = () => [...parent.querySelectorAll<HTMLElement>("button, input, select, summary, [tabindex]")];
  const focused = document.activeElement, inside = focused !== null && focused !== parent && parent.contains(focused);
  const at = inside ? reachable().indexOf(focused as HTMLElement) : -1, name = inside ? mark(focused) : "";
  parent.replaceChildren(...children);
  if (at < 0) return;
  const now = reachable();
  (now.find((one) => mark(one) === name) ?? now[Math.min(at, now.length - 1)])?.focus({ preventScroll: true });
}

export function svg(name: string, attributes: Record<string, Value> = {}, ...children: Child[]): SVGElement {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  fill(node, attributes, children);
  return node;
}
