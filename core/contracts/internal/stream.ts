/** Answer of a consumer of the change stream that reports failures one by one. */
export interface StreamAnswer {
  readonly batchItemFailures: readonly { readonly itemIdentifier: string }[];
}
