import type { BundleName } from '../../../lib/functions.ts';

/** Gzipped kibibytes: what a cold start unpacks, with room for a little growth. */
export const GZIP_KB_MAX: Readonly<Record<BundleName, number>> = {
  billing: 230,
  'webhooks-payments': 175,
  public: 190,
  // 1 of it is words for a base that is gone or was moved, and for rules that keep the queue from landing; 1 refuses a mirror, and a base
  // with a long name.
  api: 196,
  evidence: 190,
  // 3 of it read patterns as the forges do, and count what that takes; 1 finds the batches of some repositories among all, 1 tells
  // schedules by jobs, and 1 asks for a schedule that may be dropped and names one cause on page and head.
  advice: 224,
  connections: 200,
  // 8 of it merge what a backport carries, as staging does, 4 follow `.gitattributes` and macros for that, 2 look a settings file
  // through before it is read, 1 judges jobs by their statuses, 1 tells schedules by jobs, 1 reads runs one by one where the forge hides
  // one, and 1 skips what is cut off of long texts.
  'forge-ops': 244,
  admin: 190,
  'container-health': 125,
  tick: 165,
  'wake-forward': 165,
  'webhooks-forge': 170,
  // 2 of it are words for what the engine refuses, and 1 finds the batches of some repositories among all.
  worker: 196,
  // 2 of it read patterns as the forges do, and count what that takes; 2 cut long texts while they arrive and judge jobs by their
  // statuses, 1 reads runs one by one where the forge hides one, and 1 skips what is cut off and reads the styles that are allowed.
  'idle-look': 125,
  'socket-connect': 190,
  'socket-disconnect': 160,
  'socket-default': 60,
  'socket-push': 190,
  notify: 210,
  site: 40,
  secrets: 160,
  // 32 of it read the settings file of a repository, with positions, 3 read patterns as each forge does, 3 compare patches and count what
  // strangers' texts take, 2 read long timelines in parts, 2 tell merges of earlier heads and schedules by jobs, 1 sends whole files
  // where patches are slow, 1 paces large answers, and 1 keeps words under two contexts apart. No function: it starts once an hour at most.
  engine: 290,
};
/**
 * The largest size of a function, minified: beyond it a cold start is felt. Each function that answers people holds the schemas of all
 * routes. Near the limit are `billing`, which carries the payment SDK, and `forge-ops`, which merges what a backport carries, and for
 * whose guard against another repository of the name the limit rose by 4 KB. `engine` is no function, so that it has room of its own:
 * it merges, and reads settings files with positions; the places of large merges raised it by 4 KB.
 */
export const MINIFIED_BYTES_MAX = 772 * 1024;
export const ENGINE_BYTES_MAX = 880 * 1024;
