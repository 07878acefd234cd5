export { type AbstractForge, type AbstractForgeOptions, createAbstractForge } from './abstract-forge.ts';
export { GATE_STATUS_CONTEXT, GATE_WORKFLOW_FILE, GATE_WORKFLOW_PATH } from './gate.ts';
export type { Delays, Switches } from './world.ts';
