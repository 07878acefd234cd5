import { spawn, spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

/** An emulator of AWS on loopback: moto, started by the Python that has it. */
export interface Emulator {
  readonly endpoint: string;
  /** Types of resources that its CloudFormation makes. */
  readonly knownTypes: ReadonlySet<string>;
  /** One call of CloudFormation's query API; the answer is XML. Throws with the message of a refusal. */
  callStacks(action: string, parameters: Readonly<Record<string, string>>): Promise<string>;
  putObject(bucket: string, key: string, bytes: Buffer): Promise<void>;
  stop(): void;
}

const REGION = 'us-east-1';
const START_TRIES = 60;
const START_TRY_EVERY_MS = 500;
/** The emulator checks no signature; it reads from this which service is called. */
const signedFor = (service: string): Record<string, string> => ({
  authorization: `AWS4-HMAC-SHA256 Credential=test/20260101/${REGION}/${service}/aws4_request, SignedHeaders=host, Signature=0`,
});

const LIST_TYPES = `
import moto, json
from moto.cloudformation.parsing import get_model_map
print(json.dumps(sorted(get_model_map().keys())))
`;

export async function startEmulator(python: string, port: number): Promise<Emulator> {
  const listed = spawnSync(python, ['-c', LIST_TYPES], { encoding: 'utf8' });
  if (listed.status !== 0) throw new Error('moto does not list what it knows');
  const endpoint = `http://127.0.0.1:${port}`;
  const child = spawn(python, ['-m', 'moto.server', '-H', '127.0.0.1', '-p', String(port)], {
    stdio: 'ignore',
  });
  const stop = (): void => void child.kill();
  try {
    await awaitStart(endpoint);
    // A function is stored and not run: that would need containers.
    await fetch(`${endpoint}/moto-api/config`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ lambda: { use_docker: false } }),
    });
    // The CDK's bootstrap leaves its version there, and each template asks for it.
    const body = JSON.stringify({ Name: '/cdk-bootstrap/hnb659fds/version', Value: '30', Type: 'String' });
    const headers = {
      ...signedFor('ssm'),
      'content-type': 'application/x-amz-json-1.1',
      'x-amz-target': 'AmazonSSM.PutParameter',
    };
    await fetch(endpoint, { method: 'POST', headers, body });
  } catch (error) {
    stop();
    throw error;
  }
  return {
    endpoint,
    knownTypes: new Set<string>(JSON.parse(listed.stdout)),
    stop,
    callStacks: async (action, parameters) => {
      const response = await fetch(endpoint, {
        method: 'POST',
        headers: signedFor('cloudformation'),
        body: new URLSearchParams({ Action: action, Version: '2010-05-15', ...parameters }),
      });
      const text = await response.text();
      if (response.ok) return text;
      throw new Error(/<Message>([^<]*)/.exec(text)?.[1] ?? `${action}: ${response.status}`);
    },
    putObject: async (bucket, key, bytes) => {
      const headers = signedFor('s3');
      await fetch(`${endpoint}/${bucket}`, { method: 'PUT', headers });
      const put = await fetch(`${endpoint}/${bucket}/${key}`, { method: 'PUT', headers, body: bytes });
      if (!put.ok) throw new Error(`an asset was not stored: ${put.status}`);
    },
  };
}

async function awaitStart(endpoint: string): Promise<void> {
  for (let left = START_TRIES; left > 0; left -= 1) {
    const isUp = await fetch(`${endpoint}/moto-api/`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isUp) return;
    await sleep(START_TRY_EVERY_MS);
  }
  throw new Error('the emulator does not start');
}
