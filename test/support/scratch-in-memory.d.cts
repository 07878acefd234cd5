/** Sets `TMPDIR` to a folder in memory, where there is one and the caller named none. */
declare function keepScratchInMemory(): Promise<void>;
export = keepScratchInMemory;
