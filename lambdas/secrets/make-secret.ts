import * as z from 'zod';
import { makeUpText } from '#core/adapters/system/made-up-text.ts';
import type { Log } from '#core/ports/system.ts';
import { Secret } from '#core/secret.ts';

/**
 * The request of CloudFormation for one secret of the stack. Source: AWS, "Custom resource request reference" (CloudFormation
 * user guide); `Parameter` and what follows are the properties of the resource.
 */
const Request = z.object({
  RequestType: z.enum(['Create', 'Update', 'Delete']),
  ResponseURL: z.url({ protocol: /^https?$/ }),
  StackId: z.string(),
  RequestId: z.string(),
  LogicalResourceId: z.string(),
  PhysicalResourceId: z.string().optional(),
  ResourceProperties: z.object({
    /** Name and ARN of the parameter. */
    Parameter: z.string().regex(/^\/.+/),
    ParameterArn: z.string(),
    Description: z.string(),
    /** Letters and digits of a value that is made up. */
    Length: z.coerce.number().int().min(16).max(4096),
    /** ARN of the secret that held the value in earlier releases; empty: the value is made up. */
    CopyFrom: z.string().default(''),
  }),
});
type Request = z.infer<typeof Request>;

export interface SecretMakerDeps {
  /** False: there is such a parameter, and its value was left alone. */
  readonly store: (parameter: {
    readonly name: string;
    readonly description: string;
    readonly value: Secret<string>;
  }) => Promise<boolean>;
  /** Does nothing where there is no such parameter. */
  readonly remove: (name: string) => Promise<void>;
  /** The value in the store of earlier releases. */
  readonly readOld: (secretArn: string) => Promise<Secret<string>>;
  /** Tells CloudFormation how it went. */
  readonly answer: (url: string, body: string) => Promise<void>;
  readonly log: Log;
  readonly pause: (ms: number) => Promise<void>;
}

/**
 * The right to a new parameter is given in the same deployment, a moment before, and IAM is eventually consistent (AWS, IAM user
 * guide, "Changes that I make are not always immediately visible"): a refusal is final only after about a minute.
 */
const RIGHTS_SPREAD_TRIES = 13;
const RIGHTS_SPREAD_PAUSE_MS = 5_000;

/** A parameter that was there before is not the stack's to remove when the stack is rolled back. */
const MADE = 'made:';
const FOUND = 'found:';

/**
 * Makes a secure parameter, which CloudFormation itself cannot make (AWS, "AWS::SSM::Parameter"), and never writes over
 * one. The answer holds the parameter's ARN and nothing secret, so it is not masked: the outputs show it. Always answers: a stack that gets no answer waits for an hour. Throws where the event is no request or the answer
 * cannot be sent; then the platform sends the event again.
 */
export function createSecretMaker(deps: SecretMakerDeps): (event: unknown) => Promise<void> {
  return async (event) => {
    const request = Request.parse(event);
    const { name, result } = await handle(deps, request);
    const { StackId, RequestId, LogicalResourceId, ResponseURL, ResourceProperties } = request;
    await deps.answer(
      ResponseURL,
      JSON.stringify({
        StackId,
        RequestId,
        LogicalResourceId,
        PhysicalResourceId: name,
        ...result,
        Data: { Arn: ResourceProperties.ParameterArn },
      }),
    );
  };
}

async function handle(
  deps: SecretMakerDeps,
  request: Request,
): Promise<{ readonly name: string; readonly result: object }> {
  const { RequestType, PhysicalResourceId, ResourceProperties } = request;
  const parameter = ResourceProperties.Parameter;
  try {
    const name =
      RequestType === 'Delete'
        ? await removeOwn(deps, PhysicalResourceId ?? '')
        : await onceAllowed(deps, () => make(deps, request, PhysicalResourceId));
    return { name, result: { Status: 'SUCCESS' } };
  } catch (error) {
    // The name of a fault of the SDK says what was refused; its message may quote what was sent.
    const fault = error instanceof Error ? error.name : 'unknown';
    deps.log.error('a secret was not made', { parameter, request: RequestType, fault });
    const Reason = `${parameter}: ${fault}`;
    return {
      name: PhysicalResourceId ?? `${FOUND}${parameter}`,
      result: { Status: 'FAILED', Reason },
    };
  }
}

async function onceAllowed<T>({ pause }: Pick<SecretMakerDeps, 'pause'>, call: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await call();
    } catch (error) {
      const isRefused = error instanceof Error && error.name === 'AccessDeniedException';
      if (!isRefused || tries === RIGHTS_SPREAD_TRIES) throw error;
      await pause(RIGHTS_SPREAD_PAUSE_MS);
    }
  }
}

async function make(deps: SecretMakerDeps, request: Request, before: string | undefined): Promise<string> {
  const { Parameter: name, Description: description, Length, CopyFrom } = request.ResourceProperties;
  const value = CopyFrom === '' ? new Secret(makeUpText(Length)) : await deps.readOld(CopyFrom);
  const isNew = await deps.store({ name, description, value });
  // An id that changes would have CloudFormation delete what it stood for.
  return before ?? `${isNew ? MADE : FOUND}${name}`;
}

async function removeOwn(deps: SecretMakerDeps, id: string): Promise<string> {
  if (id.startsWith(MADE)) await deps.remove(id.slice(MADE.length));
  return id;
}
