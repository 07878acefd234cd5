import { ALLOWED, type Layer, layerOf, SCANNED } from './layers.ts';
import { type Edge, listSources, readSource as read, readEdges } from './sources.ts';

const files = SCANNED.flatMap(listSources);
const edges: readonly Edge[] = files.flatMap(readEdges);

describe('layers', () => {
  test('the scan sees the files it judges', () => {
    expect(files.length).toBeGreaterThan(100);
    expect(edges).toContainEqual({
      from: 'lambdas/tick/handler.ts',
      to: 'core/services/wakes/send-wakes.ts',
    });
    expect(edges).toContainEqual({ from: 'core/services/wakes/send-wakes.ts', to: 'core/ports/store.ts' });
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
      (path) =>
        /^(core|lambdas)\//.test(path) &&
        /(?:statusCode:\s*|\brespond(?:Json|Text|Empty)\(\s*)[45]\d\d/.test(code(path)),
    );
    // The health of the engine is an answer with a form of its own (contract, Errors).
    expect(writers).toEqual(['lambdas/container-health/routes.ts']);
  });
});
