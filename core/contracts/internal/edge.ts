/** Set by the distribution on its way to the gateway; whatever a client sends under these names is replaced there. */
export const EDGE_STAMP_HEADER = 'x-mergeyard-stamp';
export const VIEWER_ADDRESS_HEADER = 'x-mergeyard-viewer';
