import type { BundleName } from '../../../lib/functions.ts';

/** Gzipped kibibytes: what a cold start unpacks, with room for a little growth. */
export const GZIP_KB_MAX: Readonly<Record<BundleName, number>> = {
  billing: 230,
  'webhooks-payments': 175,
  public: 190,
  // 1 of it is words for a base that is gone, and for rules that keep the queue from landing. It was 192 until a repository without a
  // batch among the newest was told by its last view.
  api: 194,
  evidence: 190,
  // 3 of it read patterns as the forges do, and count what that takes; 1 finds the batches of some repositories among all, and
  // 1 tells the workflows of a pipeline apart.
  advice: 219,
  connections: 200,
  // 8 of it merge what a backport carries, as staging does. It was 226 until addresses of notices were judged when they are set, and
  // 229 until `.gitattributes` were read with their values, 230 until long texts were cut while they arrive, 232 until it
  // told rules over the branches of the queue and a base that is gone, 233 until macros of `.gitattributes` were followed, 234 until
  // runs of other repositories' workflows were left out, and 236 until the settings file was looked through before it is read, and
  // the comparing of trees and moved files had an end.
  'forge-ops': 238,
  admin: 190,
  'container-health': 125,
  tick: 165,
  'wake-forward': 165,
  'webhooks-forge': 170,
  // 2 of it are words for what the engine refuses, and 1 finds the batches of some repositories among all. It was 195 until a branch
  // without a commit of the base was told.
  worker: 196,
  // 2 of it read patterns as the forges do, and count what that takes; 1 cuts long texts while they arrive.
  // It was 120 until long timelines were read in parts.
  'idle-look': 121,
  'socket-connect': 190,
  'socket-disconnect': 160,
  'socket-default': 60,
  'socket-push': 190,
  notify: 210,
  site: 40,
  secrets: 160,
  // 32 of it read the settings file of a repository, with positions, 3 read patterns as each forge does, 2 count what strangers' texts take
  // and compare patches, 1 tells an archived repository, 1 a rule over the branches of the queue and a base that is gone, and 1 keeps
  // words that still hold and tells of what the bot may not see. It was 271 until runs of other repositories' workflows were left out, and checks that no API
  // shows were told, 274 until the comparing of trees and moved files had an end, and 276 until long timelines were read in parts. No function: it starts once an hour at most.
  engine: 278,
};
/**
 * The largest size of a function, minified: beyond it a cold start is felt. It was 665 KiB, then 680, 720, 740, 746, 750 and 752; every
 * function that answers people holds the schemas of all routes, and with pause, branches and confirmed addresses came further
 * ones. Near it are `billing`, which carries the payment SDK, and `forge-ops`, which cuts long texts of forges, looks up names of
 * strangers without a thread, follows macros of `.gitattributes` and checks the login of a token anew. `engine` is no function: it starts once an hour at most,
 * reads settings files with positions, and has room of its own. It was 768 KiB until it followed clocks and wrote over heads that
 * cannot be read, 800 KiB until it knew which files a rebase stops at, 816 KiB until it knew which titles and unsigned merges
 * no forge takes, 820 KiB until a refusal of one thing kept nothing else from its
 * way, 824 KiB until it remembered which alarms it had
 * told, 825 KiB until it knew of checks that no API shows, 832 KiB until the comparing of trees and moved files had an end, 836 KiB until long
 * timelines were read in parts, and 840 KiB until workflows of one pipeline counted each for themselves. The functions had 754 KiB until a rule that people may bypass, such a check and
 * a lost pass of a head had words.
 */
export const MINIFIED_BYTES_MAX = 766 * 1024;
export const ENGINE_BYTES_MAX = 844 * 1024;
