const asyncHooks = require('node:async_hooks');
const v8 = require('node:v8');
const vm = require('node:vm');
const { ModuleMocker } = require('jest-mock');
const { LATE_OPTIMIZING } = require('./late-optimizing.cjs');

for (const option of LATE_OPTIMIZING) v8.setFlagsFromString(option);

/**
 * The environment of all tests that need no document: half of the time of jest's own.
 *
 * 1. Test files run in the context of their worker. In a context of its own each look at a global goes the long way, and
 *    nothing that was compiled for one file serves the next.
 * 2. A module is compiled once per worker. Each test file still runs it anew, so no file meets the state of another.
 * 3. The runner's note of the running test is no `AsyncLocalStorage`. One that was ever entered makes node follow each promise of
 *    the process: a third of the time of a simulated life. Those of the product follow it until their file ends.
 *
 * Globals and the variables of the process are put back when a file ends. Built-in objects are those of the whole worker: no
 * test may change one and leave it so.
 */
module.exports = class OneContext {
  global = globalThis;
  moduleMocker = new ModuleMocker(globalThis);
  /** No test counts on time that stands still: clocks are handed in. */
  fakeTimers = null;
  fakeTimersModern = null;
  #globals = Object.getOwnPropertyDescriptors(globalThis);
  #variables = { ...process.env };

  async setup() {
    Error.stackTraceLimit = STACK_LINES_MAX;
    asyncHooks.AsyncLocalStorage = RunningTest;
  }

  /** `setup` of the runner: it is loaded, and the test file is not. */
  handleTestEvent({ name }) {
    if (name === 'setup') asyncHooks.AsyncLocalStorage = FileStorage;
  }

  async teardown() {
    asyncHooks.AsyncLocalStorage = AsyncLocalStorage;
    FileStorage.disableAll();
    for (const key of Reflect.ownKeys(globalThis)) putBack(key, this.#globals[key]);
    for (const key of Object.keys(process.env)) if (!(key in this.#variables)) delete process.env[key];
    Object.assign(process.env, this.#variables);
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  getVmContext() {
    return MARK;
  }
};

const STACK_LINES_MAX = 100;
const { AsyncLocalStorage } = asyncHooks;
const { compileFunction } = vm;

/** A storage of the product, which is at work until its test file ends. */
class FileStorage extends AsyncLocalStorage {
  static #opened = [];

  constructor() {
    super();
    FileStorage.#opened.push(this);
  }

  static disableAll() {
    for (const storage of FileStorage.#opened.splice(0)) storage.disable();
  }
}

/** Stands for the context of the worker, which node hands to nobody. Nothing runs in it. */
const MARK = vm.createContext();
/** By file and parameters, for as long as the worker lives. */
const compiled = new Map();

vm.compileFunction = (source, parameters, options) => {
  if (options?.parsingContext !== MARK) return compileFunction(source, parameters, options);
  const key = `${options.filename}\0${parameters.join()}`;
  let known = compiled.get(key);
  if (known?.source !== source) {
    const { parsingContext, ...ours } = options;
    known = {
      source,
      open: hasPrivateNames(source) ? openAnew(source, parameters, ours) : keep(source, parameters, ours),
    };
    compiled.set(key, known);
  }
  return known.open();
};

/** What one file has taught the compiler serves the next. */
function keep(source, parameters, options) {
  const run = compileFunction(source, parameters, options);
  return () => run;
}

/**
 * Parsed once, and each file teaches the compiler anew: a class of each file has other private names, and with those of
 * several files in mind each `#field` takes 25 times as long.
 */
function openAnew(source, parameters, options) {
  const script = new vm.Script(`(function (${parameters.join()}) {${source}\n})`, options);
  return () => script.runInThisContext();
}

function hasPrivateNames(source) {
  return source.includes('this.#');
}

/** Knows one test at a time: an error that no promise of a test awaits is told of the one that runs. */
class RunningTest {
  #store;

  getStore() {
    return this.#store;
  }

  run(store, body) {
    const outer = this.#store;
    this.#store = store;
    const leave = () => {
      this.#store = outer;
    };
    const result = body();
    if (typeof result?.then === 'function') return result.finally(leave);
    leave();
    return result;
  }
}

function putBack(key, before) {
  const now = Object.getOwnPropertyDescriptor(globalThis, key);
  if (now?.configurable !== true) return;
  if (before === undefined) delete globalThis[key];
  else if (before.value !== now.value || before.get !== now.get)
    Object.defineProperty(globalThis, key, before);
}
