import { type MoveTable, readStandingStill } from '#core/adapters/dynamo/move/marks.ts';
import { ConfigError } from '../config.ts';

/** Refuses to run an installation that was exported, or that an import has not filled yet. Throws `ConfigError`. */
export async function refuseStandingStill(table: MoveTable): Promise<void> {
  const still = await readStandingStill(table);
  if (still === null) return;
  const when = new Date(still.at).toISOString();
  throw new ConfigError(
    still.why === 'moved'
      ? `data_dir: this installation was exported at ${when} and runs elsewhere. Where it does not, npm run export -- --config <file> --take-back lets it run here again.`
      : `data_dir: an import that began at ${when} did not end. Start the same import again.`,
  );
}
