/** The major version of Node.js that runs functions, engine and one box wherever they are deployed, and the tests in CI. */
export const DEPLOYED_NODE = 24;

/**
 * The oldest major version of Node.js that starts the service from its bundles on a machine of one's own: no bundle may
 * use newer syntax.
 */
export const OLDEST_NODE = 20;
