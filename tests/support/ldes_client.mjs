// Reads an event stream with a public client: a line of JSON per member, in the order of the stream.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [folder, url] = process.argv.slice(2);
const packages = createRequire(`${folder}/`);
// Its version for `require` does not load.
const library = `${folder}/node_modules/ldes-client/dist/lib/client.js`;
const { intoConfig, replicateLDES } = await import(pathToFileURL(library));
const { Writer } = packages("n3");

const client = replicateLDES(intoConfig({ url, polling: false }), "ascending");
for await (const { id, quads } of client.stream()) {
  const text = new Writer({ format: "N-Quads" }).quadsToString(quads);
  console.log(JSON.stringify({ id: id.value, quads: text }));
}
