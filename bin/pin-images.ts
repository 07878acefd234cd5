import { readFileSync, writeFileSync } from 'node:fs';
import { PINNED_DOCKERFILES, pinDockerfile, readDigest } from './pin-images/pin.ts';

/** `npm run pin:images`: names the base of each image by the digest that its tag has today. */
async function main(): Promise<void> {
  for (const path of PINNED_DOCKERFILES) {
    const before = readFileSync(path, 'utf8');
    const after = await pinDockerfile(before, (image) => readDigest(image, fetch));
    if (after !== before) writeFileSync(path, after);
    console.log(`${path}: ${after === before ? 'as it was' : 'pinned'}`);
  }
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : 'failed');
  process.exitCode = 1;
});
