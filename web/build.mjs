// Bundles the page (dist/page.js, dist/page.css) and the live page's (dist/live.js, dist/live.css), and dist/page.csp, the policy that lets exactly
// these two run and nothing else. `--tests` bundles the tests into build/ instead.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";

if (process.argv.includes("--tests")) {
  await build({
    entryPoints: { "unit.test": "test/unit.test.ts", "page.test": "test/page.test.ts", "live.test": "test/live.test.ts", "crowd.test": "test/crowd.test.ts", "pages.test": "test/pages.test.ts", recover: "test/recover.test.ts", measure: "bench/measure.ts", live: "bench/live.ts", picture: "bench/picture.ts" },
    bundle: true, platform: "node", format: "esm", outdir: "build", logLevel: "warning",
    packages: "external",
  });
} else {
  mkdirSync("dist", { recursive: true });
  await build({
    entryPoints: { page: "src/main.ts", live: "src/live/main.ts" },
    bundle: true, minify: true, format: "iife", target: "es2022", charset: "utf8",
    outdir: "dist", logLevel: "warning", legalComments: "none",
  });
  await build({ entryPoints: { page: "src/page.css", live: "src/live/live.css" }, minify: true, charset: "utf8", outdir: "dist", logLevel: "warning" });
  const hash = (path) => `'sha256-${createHash("sha256").update(readFileSync(path)).digest("base64")}'`;
  const policy = [
    "default-src 'none'",
    `script-src ${hash("dist/page.js")}`,
    `style-src ${hash("dist/page.css")}`,
    "img-src data: blob:",
    "base-uri 'none'",
    "form-action 'none'",
  ];
  writeFileSync("dist/page.csp", policy.join("; "));
}
