/** Folders whose imports are judged. */
export const SCANNED = ['bin', 'cli', 'core', 'engine-container', 'lambdas', 'lib', 'local', 'onebox'];

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
  ['plans of backports', /^engine-container\/src\/staging\/plan-backport\.ts$/],
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
export type Layer = (typeof LAYERS)[number][0];

export function layerOf(path: string): Layer {
  const found = LAYERS.find(([, pattern]) => pattern.test(path));
  if (found === undefined) throw new Error(`${path} is in no layer`);
  return found[0];
}

/** The layers that each layer may import, besides itself. Every layer of the project has a row. */
const CORE = ['domain', 'secret', 'contracts', 'ports'] as const;
export const ALLOWED: Readonly<Partial<Record<Layer, readonly Layer[]>>> = {
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
  // The merge of staging, without the engine around it.
  'plans of backports': ['domain', 'ports', 'engine'],
  lambdas: [
    ...CORE,
    'services',
    'adapters',
    'http',
    'plans of backports',
    'sdk',
    'middy',
    'aws-lambda types',
    'zod',
  ],
  lib: ['domain', 'contracts', 'lambdas', 'cdk', 'zod', 'node', 'tools'],
  // The app, and commands of an operator: each a composition root of its own.
  bin: [...CORE, 'services', 'adapters', 'lib', 'cdk', 'sdk', 'node'],
  // The same services in one process: a composition root like a function's, of all of them.
  onebox: [
    ...CORE,
    'services',
    'adapters',
    'http',
    'engine',
    'plans of backports',
    'lambdas',
    'lib',
    'sdk',
    'middy',
    'aws-lambda types',
    'yaml',
    'zod',
    'node',
    'tools',
  ],
  local: [
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
    // The demo on the one box starts that composition, with its log.
    'onebox',
    'http',
  ],
};
