import { buildOpenApi } from '#core/contracts/routes/openapi.ts';

process.stdout.write(`${JSON.stringify(buildOpenApi('http://127.0.0.1:8787'), null, 2)}\n`);
