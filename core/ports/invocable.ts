/** Plain data, as an event or an answer of a function is. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A function of the service, however it runs. Throws `InvocationError`. */
export interface Invocable {
  invoke(event: Json): Promise<Json>;
}

/** Takes what a part prints; `source` names the part. */
export type LogSink = (source: string, text: string) => void;

/** The function threw, ran into its time-out or its thread died. Carries the error's name, as the service reports it. */
export class InvocationError extends Error {
  override readonly name = 'InvocationError';
  constructor(
    readonly functionName: string,
    readonly errorType: string,
    message: string,
  ) {
    super(`${functionName}: ${errorType}: ${message}`);
  }
}

export interface Stoppable {
  stop(): Promise<void>;
}
