declare class OneContext {
  handleTestEvent(event: { readonly name: string }): void;
  teardown(): Promise<void>;
}
export = OneContext;
