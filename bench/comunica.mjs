// A query over linked documents by Comunica's link traversal: prints the number of its rows.
//
//     NODE_PATH=... node bench/comunica.mjs MODULES QUERY SEED
import { createRequire } from 'node:module';

const [, , modules, query, seed] = process.argv;
const require = createRequire(`${modules}/`);
const { QueryEngine } = require('@comunica/query-sparql-link-traversal');
const bindings = await new QueryEngine().queryBindings(query, { sources: [seed], lenient: true });
let rows = 0;
bindings.on('data', () => { rows += 1; });
bindings.on('error', (error) => { console.error(String(error)); process.exit(1); });
bindings.on('end', () => { console.log(rows); process.exit(0); });
