// Whether what a server answers is what its own description says: every member is described, none is missing, each has its type.

import assert from "node:assert/strict";

interface Schema { $ref?: string; type?: string; anyOf?: Schema[]; allOf?: Schema[]; properties?: Record<string, Schema>; required?: string[]; items?: Schema; additionalProperties?: Schema }
interface Described { components: { schemas: Record<string, Schema> }; paths: Record<string, { get?: { responses: Record<string, { content: Record<string, { schema?: Schema }> }> } }> }

/** What is wrong with a value, each with the way to it. */
function wrong(value: unknown, schema: Schema, all: Record<string, Schema>, way: string): string[] {
  if (schema.$ref) return wrong(value, all[schema.$ref.split("/").at(-1)!] ?? { type: `nothing called ${schema.$ref}` }, all, way);
  if (schema.allOf) return wrong(value, schema.allOf.map((one) => one.$ref ? all[one.$ref.split("/").at(-1)!]! : one).reduce((a, b) => ({ type: "object", properties: { ...a.properties, ...b.properties }, required: [...a.required ?? [], ...b.required ?? []] })), all, way);
  if (schema.anyOf) {
    const each = schema.anyOf.map((one) => wrong(value, one, all, way));
    return each.some((found) => found.length === 0) ? [] : each[0]!;
  }
  const is = value === null ? "null" : Array.isArray(value) ? "array" : Number.isInteger(value) ? "integer" : typeof value;
  if (schema.type && schema.type !== is && !(schema.type === "number" && is === "integer")) return [`${way} is ${is} and not ${schema.type}`];
  if (Array.isArray(value) && schema.items) return value.flatMap((one: unknown, at) => wrong(one, schema.items!, all, `${way}[${at}]`));
  if (is !== "object") return [];
  const members = value as Record<string, unknown>, { properties, required, additionalProperties } = schema;
  if (additionalProperties) return Object.entries(members).flatMap(([name, one]) => wrong(one, additionalProperties, all, `${way}.${name}`));
  if (!properties) return [];
  return [...(required ?? []).filter((name) => !(name in members)).map((name) => `${way}.${name} is missing`),
    ...Object.entries(members).flatMap(([name, one]) => properties[name] ? wrong(one, properties[name], all, `${way}.${name}`) : [`${way}.${name} is not described`])];
}

/** Asks for these addresses (what the description calls them, and what is asked) and compares. */
export async function answersAsDescribed(address: string, asked: readonly (readonly [string, string])[]): Promise<void> {
  const { origin, hash } = new URL(address), headers = { Authorization: `Bearer ${hash.replace("#token=", "")}` };
  const get = async (path: string) => {
    const answer = await fetch(origin + path, { headers });
    assert.equal(answer.status, 200, path);
    return await answer.json() as unknown;
  };
  const about = await get("/api/openapi.json") as Described;
  for (const [name, path] of asked) {
    const schema = about.paths[name]?.get?.responses["200"]?.content["application/json"]?.schema;
    assert.ok(schema, `${name} is not described`);
    assert.deepEqual(wrong(await get(path), schema, about.components.schemas, name), []);
  }
}
