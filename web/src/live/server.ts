// The way to the server: the token, questions, and streams that come back by themselves.

/** The token of the address goes into a cookie and out of sight. */
export async function enter(): Promise<void> {
  const words = new URLSearchParams(location.hash.replace(/^#/, "")), token = words.get("token");
  if (!token) return;
  words.delete("token");
  const rest = words.toString();
  history.replaceState(null, "", location.pathname + location.search + (rest ? `#${rest}` : ""));
  const answer = await fetch("/api/session", { method: "POST", headers: { Authorization: `Bearer ${token}` } });
  if (!answer.ok) throw new Error(await reason(answer));
}

/** The server's answer to what it cannot or will not do. */
export class Refused extends Error {
  readonly status: number;
  constructor(status: number, says: string) { super(says); this.status = status; }
}

export async function ask<T>(path: string): Promise<T> {
  const answer = await fetch(path);
  if (!answer.ok) throw new Refused(answer.status, await reason(answer));
  return await answer.json() as T;
}

async function reason(answer: Response): Promise<string> {
  try { return (await answer.json() as { error: string }).error; } catch { return `the server answers ${answer.status}`; }
}

export interface Following {
  stop(): void;
  /** Whether the browser has given up: the server was away, or refuses. */
  isClosed(): boolean;
}

/** What becomes of a connection. */
export type Link = "open" | "lost";

const SOON = 500, SELDOM = 5000;

/** Follows a stream for ever. The browser comes back by itself where the connection only broke, and says where
 *  it was; where it gives up (the server was away for a moment, or refuses), we try again. */
export function follow<T>(path: string, event: string, take: (data: T) => void, link: (state: Link) => void): Following {
  let source: EventSource | null = null, timer = 0, pause = SOON, over = false;
  const open = () => {
    source = new EventSource(path);
    source.addEventListener("open", () => { pause = SOON; link("open"); });
    source.addEventListener(event, (message) => { pause = SOON; take(JSON.parse((message as MessageEvent<string>).data) as T); });
    source.addEventListener("error", () => {
      link("lost");
      if (source?.readyState !== EventSource.CLOSED || over) return;
      timer = window.setTimeout(open, pause);
      pause = Math.min(SELDOM, pause * 2);
    });
  };
  open();
  return { stop: () => { over = true; clearTimeout(timer); source?.close(); }, isClosed: () => source?.readyState === EventSource.CLOSED };
}
