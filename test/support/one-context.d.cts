declare class OneContext {
  teardown(): Promise<void>;
}
export = OneContext;
