import { mkdirSync, writeFileSync } from 'node:fs';
import { deployedFile, parseOutputs } from '../lib/deployed.ts';
import { readJson } from '../lib/stage-file.ts';

const [outputs = 'dist/outputs.json', folder = 'config'] = process.argv.slice(2);

mkdirSync(folder, { recursive: true });
for (const [stage, deployed] of parseOutputs(readJson(outputs))) {
  const file = deployedFile(folder, stage);
  writeFileSync(file, `${JSON.stringify(deployed, null, 2)}\n`);
  console.log(
    `${file} says what is deployed now; commit it, so that the next deployment can lose nothing of it`,
  );
}
