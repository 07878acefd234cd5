import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { readConfig } from '../../../onebox/config.ts';

const dockerfile = readFileSync('onebox/Dockerfile', 'utf8').replaceAll('\\\n', ' ');
const lines = dockerfile.split('\n').filter((line) => !line.startsWith('#'));
const stages = dockerfile.split(/^FROM /m).slice(1);
const of = (word: string, text = dockerfile): string[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith(`${word} `))
    .map((line) => line.slice(word.length + 1).trim());
const service = parse(readFileSync('onebox/compose.yml', 'utf8')).services.mergeyard;
const ignored = readFileSync('.dockerignore', 'utf8').split('\n');

describe('the image of the one box', () => {
  test('copies what is there, and what the bundle makes', () => {
    const [build = '', run = ''] = stages;
    expect(of('COPY', build)).toEqual(['. .']);
    expect(of('COPY', run)).toEqual(['--chown=root:root --from=build /build/dist/onebox ./']);
    const made = readFileSync('onebox/bundle.ts', 'utf8');
    expect(made).toContain("join('dist', 'onebox')");
    const entries = [...made.matchAll(/^ {2}(\w+): '(onebox\/[^']+)',$/gm)].map(([, name, file]) => [
      name,
      file,
    ]);
    expect(entries.map(([name]) => name)).toEqual(['index', 'doctor', 'backup', 'export', 'import']);
    expect(entries.filter(([, file = '']) => !existsSync(file))).toEqual([]);
    expect(JSON.parse(of('CMD', run)[0] ?? '[]').slice(0, 2)).toEqual(['node', 'index.mjs']);
    const scripts: Record<string, string> = JSON.parse(readFileSync('package.json', 'utf8')).scripts;
    const commands = lines.flatMap((line) =>
      [...line.matchAll(/npm run ([\w:]+)/g)].map(([, name = '']) => name),
    );
    expect(commands).toEqual(['build:onebox']);
    expect(commands.filter((name) => scripts[name] === undefined)).toEqual([]);
  });

  test('takes no secret, no data and no packages of the machine that builds it', () => {
    for (const name of ['.git', 'node_modules', 'config', 'mergeyard.yml', 'mergeyard-data', '*.export'])
      expect([name, ignored.includes(name)]).toEqual([name, true]);
    for (const kept of ['onebox', 'core', 'package-lock.json', 'dashboard'])
      expect(ignored).not.toContain(kept);
  });

  test('runs without rights, on a root that is not written to, with its data on a volume and a check of its health', () => {
    const run = stages.at(-1) ?? '';
    expect([of('USER', run), of('VOLUME', run)]).toEqual([['node'], ['/data']]);
    expect(run).toMatch(/HEALTHCHECK [^\n]+\/healthz/);
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      user: 'node',
      tmpfs: ['/tmp'],
      init: true,
      security_opt: ['no-new-privileges:true'],
    });
    // In reach of the machine's own proxy alone.
    expect(service.ports).toEqual(['127.0.0.1:8480:8480']);
    expect(service.volumes).toEqual(['../config:/config:ro', 'mergeyard-data:/data']);
    expect(of('CMD', run)[0]).toContain('"/config/mergeyard.yml"');
  });

  test('the example of the configuration is one, once its secret is there', () => {
    const folder = mkdtempSync(join(tmpdir(), 'onebox-example-'));
    try {
      writeFileSync(join(folder, 'mergeyard.yml'), readFileSync('onebox/mergeyard.example.yml'));
      expect(() => readConfig(join(folder, 'mergeyard.yml'))).toThrow('client-secret.txt cannot be read');
      writeFileSync(join(folder, 'client-secret.txt'), 'secret\n');
      expect(readConfig(join(folder, 'mergeyard.yml'))).toMatchObject({ clientSecret: 'secret' });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
