"use strict";

/** An element with text or other elements in it. Texts of the document are never HTML. */
function element(name, ...content) {
  const made = document.createElement(name);
  made.append(...content.filter((part) => part !== undefined && part !== null));
  return made;
}

/** A type in a few words. */
function type(schema) {
  if (!schema) return "";
  if (schema.$ref) return schema.$ref.split("/").pop();
  const variants = schema.oneOf || schema.anyOf || schema.allOf;
  if (variants) return variants.map(type).join(schema.allOf ? " & " : " | ");
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.type === "array") return "[" + type(schema.items) + "]";
  const name = Array.isArray(schema.type) ? schema.type.join(" | ") : schema.type || "any";
  return schema.format ? name + " (" + schema.format + ")" : name;
}

function rows(...lists) {
  return element("table", ...lists.map((list) => {
    const cells = list.map((cell, index) => element("td", index ? cell : element("code", cell)));
    return element("tr", ...cells);
  }));
}

function content(body) {
  return Object.entries(body.content || {}).map(([media, { schema }]) => [media, type(schema), body.description || ""]);
}

function operation(method, path, route) {
  const parts = [element("summary", element("b", method.toUpperCase()), element("code", path), " " + (route.summary || ""))];
  if (route.description) parts.push(element("p", route.description));
  if (route.parameters) {
    parts.push(element("h4", "Parameters"), rows(...route.parameters.map((parameter) => [
      parameter.name, parameter.in + (parameter.required ? ", required" : ""), type(parameter.schema), parameter.description || "",
    ])));
  }
  if (route.requestBody) parts.push(element("h4", "Body"), rows(...content(route.requestBody)));
  parts.push(element("h4", "Answers"), rows(...Object.entries(route.responses).map(([status, answer]) => [
    status, answer.description, content(answer).map(([media, name]) => name + " as " + media).join(", "),
  ])));
  return element("details", ...parts);
}

function schema(name, definition) {
  const parts = [element("summary", element("code", name), " " + (definition.description || "").split("\n")[0])];
  parts.push(element("pre", JSON.stringify(definition, null, 2)));
  const made = element("details", ...parts);
  made.id = "schema-" + name;
  return made;
}

async function show() {
  const api = await (await fetch("/openapi.json")).json();
  document.getElementById("about").textContent = api.info.title + " " + api.info.version + ". " + (api.info.description || "");
  const groups = new Map();
  for (const [path, item] of Object.entries(api.paths)) {
    for (const [method, route] of Object.entries(item)) {
      const tag = (route.tags || ["other"])[0];
      if (!groups.has(tag)) groups.set(tag, []);
      groups.get(tag).push(operation(method, path, route));
    }
  }
  const main = document.getElementById("routes");
  for (const [tag, operations] of groups) main.append(element("h2", tag), ...operations);
  const schemas = document.getElementById("schemas");
  for (const [name, definition] of Object.entries(api.components.schemas)) schemas.append(schema(name, definition));
}

show().catch((error) => { document.getElementById("routes").textContent = "Cannot load /openapi.json: " + error; });
