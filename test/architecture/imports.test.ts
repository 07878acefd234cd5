import { type Edge, listSources, readSource as read, readEdges } from './sources.ts';

const FOLDERS = ['bin', 'cli', 'core', 'engine-container', 'lambdas', 'lib', 'local', 'onebox'];

const files = FOLDERS.flatMap(listSources);
const edges: readonly Edge[] = files.flatMap(readEdges);

/** Layer of a path (ARCHITECTURE.md, Layers). Packages and node built-ins are layers too. */
const LAYERS = [
  ['domain', /^core\/domain\//],
  ['secret', /^core\/secret\.ts$/],
  ['contracts', /^core\/contracts\//],
  ['ports', /^core\/ports\//],
  ['queue', /^engine-container\/src\/queue\//],
  ['services', /^core\/services\//],
  ['adapters', /^core\/adapters\//],
  ['http', /^core\/(http\/|telemetry\.ts$)/],
  ['engine', /^engine-container\/src\//],
  ['lambdas', /^lambdas\//],
  ['lib', /^lib\//],
  ['bin', /^bin\//],
  ['cli', /^cli\//],
  ['words of the page', /^dashboard\/view\//],
  ['command lines', /^(commander|@bomb\.sh\/tab)(\/|$)/],
  ['tool servers', /^@modelcontextprotocol\/sdk\//],
  ['onebox', /^onebox\//],
  ['local', /^local\//],
  ['test', /^test\//],
  ['node', /^node:/],
  ['sdk', /^@aws-sdk\//],
  ['payments sdk', /^stripe$/],
  ['mail', /^nodemailer$/],
  ['zod', /^zod$/],
  ['signed tokens', /^jose$/],
  ['middy', /^@middy\//],
  ['aws-lambda types', /^aws-lambda$/],
  ['addresses', /^ipaddr\.js$/],
  ['cdk', /^(aws-cdk-lib|constructs|cdk-nag)(\/|$)/],
  ['sockets', /^ws$/],
  ['yaml', /^(yaml|fastest-levenshtein)$/],
  ['tools', /^(esbuild|fauxqs)$/],
  ['emulator files', /^node_modules\/fauxqs\//],
] as const;
type Layer = (typeof LAYERS)[number][0];

function layerOf(path: string): Layer {
  const found = LAYERS.find(([, pattern]) => pattern.test(path));
  if (found === undefined) throw new Error(`${path} is in no layer`);
  return found[0];
}

/** The layers that each layer may import, besides itself. Every layer has a row. */
const CORE = ['domain', 'secret', 'contracts', 'ports'] as const;
const ALLOWED: Readonly<Partial<Record<Layer, readonly Layer[]>>> = {
  // `secret` is a value type without any dependency of its own; `node` there is util.inspect.
  domain: ['secret'],
  secret: ['node'],
  // What people write is read with positions, and a wrong name gets the nearest right one.
  contracts: ['domain', 'secret', 'ports', 'zod', 'node', 'yaml'],
  ports: ['domain', 'secret'],
  queue: ['domain'],
  // A terminal says what the page says.
  cli: ['contracts', 'words of the page', 'command lines', 'tool servers', 'zod', 'node'],
  services: CORE,
  adapters: [...CORE, 'http', 'node', 'sdk', 'payments sdk', 'mail', 'zod', 'signed tokens', 'sockets'],
  http: [...CORE, 'node', 'middy', 'addresses', 'aws-lambda types'],
  engine: [...CORE, 'queue', 'services', 'adapters', 'http', 'node', 'sdk', 'zod'],
  lambdas: [...CORE, 'services', 'adapters', 'http', 'sdk', 'middy', 'aws-lambda types', 'zod'],
  lib: ['domain', 'contracts', 'lambdas', 'cdk', 'zod', 'node', 'tools'],
  // The app, and commands of an operator: each a composition root of its own.
  bin: [...CORE, 'services', 'adapters', 'lib', 'cdk', 'sdk', 'node'],
  // The same services in one process: a composition root like a function's, of all of them.
  onebox: [
    ...CORE,
    ...(['services', 'adapters', 'http', 'engine', 'lambdas', 'lib', 'sdk', 'middy'] as const),
    ...(['aws-lambda types', 'yaml', 'zod', 'node', 'tools'] as const),
  ],
  local: [
    ...([
      ...CORE,
      'services',
      'adapters',
      'lib',
      'sdk',
      'cdk',
      'node',
      'tools',
      'zod',
      'emulator files',
    ] as const),
    // The demo on the one box starts that composition, with its log.
    ...(['onebox', 'http'] as const),
  ],
};

describe('layers', () => {
  test('the scan sees the files it judges', () => {
    expect(files.length).toBeGreaterThan(100);
    expect(edges).toContainEqual({ from: 'lambdas/tick/handler.ts', to: 'core/services/wake.ts' });
    expect(edges).toContainEqual({ from: 'core/services/wake.ts', to: 'core/ports/store.ts' });
  });

  test.each(Object.keys(ALLOWED) as Layer[])('%s imports only from the layers below it', (layer) => {
    const wrong = edges
      .filter(({ from, to }) => {
        if (layerOf(from) !== layer) return false;
        const target = layerOf(to);
        return target !== layer && !(ALLOWED[layer] ?? []).includes(target);
      })
      .map(({ from, to }) => `${from} -> ${to}`);
    expect(wrong).toEqual([]);
  });

  test('no surface imports another', () => {
    const surface = (path: string): string => path.split('/')[1] ?? '';
    const wrong = edges.filter(
      ({ from, to }) =>
        from.startsWith('lambdas/') && to.startsWith('lambdas/') && surface(from) !== surface(to),
    );
    expect(wrong).toEqual([]);
  });

  test('the stack takes only environments from the surfaces, never code that runs', () => {
    const taken = edges.filter(({ from, to }) => from.startsWith('lib/') && to.startsWith('lambdas/'));
    expect(taken.length).toBeGreaterThan(0);
    for (const { to } of taken) expect(to).toMatch(/\/env\.ts$/);
  });

  test('nothing that is delivered imports tests or the local run', () => {
    const wrong = edges.filter(({ from, to }) => !from.startsWith('local/') && /^(test|local)\//.test(to));
    expect(wrong).toEqual([]);
    expect(edges.filter(({ to }) => to.startsWith('test/'))).toEqual([]);
  });

  test('the SDK and the network are reached by adapters and composition roots only', () => {
    const users = new Set(
      edges.filter(({ to }) => to.startsWith('@aws-sdk/')).map(({ from }) => layerOf(from)),
    );
    for (const layer of users)
      expect(['adapters', 'engine', 'lambdas', 'bin', 'local', 'onebox']).toContain(layer);
    const engineUsers = edges.filter(
      ({ from, to }) => layerOf(from) === 'engine' && to.startsWith('@aws-sdk/'),
    );
    const roots = ['engine-container/src/advice.handler.ts', 'engine-container/src/main.ts'];
    expect(new Set(engineUsers.map(({ from }) => from))).toEqual(new Set(roots));
  });
});

describe('words', () => {
  /** Code without comments and texts, which may speak of anything. */
  const code = (path: string): string =>
    read(path)
      .replace(/\/\*[\s\S]*?\*\//g, '')
      .replace(/\/\/.*$/gm, '')
      .replace(/'(?:[^'\\\n]|\\.)*'/g, "''");

  test('the decision is pure: no clock, chance, process, network or waiting', () => {
    const queue = files.filter((path) => path.startsWith('engine-container/src/queue/'));
    expect(queue.length).toBeGreaterThan(3);
    const impure = queue.flatMap((path) =>
      [
        ...code(path).matchAll(
          /\b(Date|Math\.random|process|fetch|async|await|setTimeout|performance|crypto|require)\b/g,
        ),
      ].map(([word]) => `${path}: ${word}`),
    );
    expect(impure).toEqual([]);
  });

  test('zod is imported whole: the named import puts every language into every bundle', () => {
    const named = files.filter((path) =>
      /import\s+(type\s+)?\{[^}]*\}\s+from\s+'zod'/.test(
        read(path).replace(/import type \{[^}]*\} from 'zod';/g, ''),
      ),
    );
    expect(named).toEqual([]);
  });

  test('the environment is read where a process begins, and nowhere else', () => {
    const readers = files.filter(
      (path) =>
        /\bprocess\.env\b/.test(code(path)) &&
        !path.startsWith('local/') &&
        !/(\.handler|handler|main)\.ts$|^bin\//.test(path),
    );
    expect(readers).toEqual([]);
  });

  test('no product code knows of local runs (D-96)', () => {
    const product = files.filter((path) => /^(core|lambdas|engine-container)\//.test(path));
    const wrong = product.filter((path) =>
      /\b(isLocal|MQ_LOCAL|localhost)\b|AWS_ENDPOINT_URL/.test(code(path)),
    );
    expect(wrong).toEqual([]);
  });

  test('only respond.ts writes an error body, only the error table knows their statuses', () => {
    const writers = files.filter(
      (path) => /^(core|lambdas)\//.test(path) && /statusCode:\s*[45]\d\d/.test(code(path)),
    );
    expect(writers).toEqual([]);
  });
});
