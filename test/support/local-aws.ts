/** Clients of the emulators: these check neither region nor signature, but no client begins without. */
export const LOCAL_AWS = {
  region: 'us-east-1',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
};
