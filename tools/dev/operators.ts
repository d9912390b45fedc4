// The database for operators' command lines: the one of DATABASE_URL, else of the instance that runs here,
// else of the instance that would run here. In the last case its Postgres is started for the duration of the
// command.
import path from 'node:path';
import { type DevFile, readDevFile } from './dev-file.ts';
import { claimInstance, instanceHolder } from './instance.ts';
import { startPostgres } from './postgres.ts';
import { repositoryRoot } from './repository.ts';

/** The operators' command line for licenses. */
export const licenseProgram = path.join(repositoryRoot, 'apps/license-service/src/cli.ts');

/** A database that is available until `giveBack` is called. */
export interface LentDatabase {
  readonly url: string;
  readonly giveBack: () => Promise<void>;
}

/** Migrates a Postgres that was started only for the command. */
type Migrate = (databaseUrl: string) => Promise<unknown>;

/** Starts the Postgres of the instance that would run here, and migrates it. */
async function startOwnPostgres(migrate: Migrate): Promise<LentDatabase> {
  const claim = claimInstance();
  try {
    const postgres = await startPostgres({ durable: true });
    const giveBack = async (): Promise<void> => {
      await postgres.stop();
      claim.release();
    };
    await migrate(postgres.url).catch(async (error: unknown) => {
      await giveBack();
      throw error;
    });
    return { url: postgres.url, giveBack };
  } catch (error) {
    claim.release();
    throw error;
  }
}

/** Returns the facts about the instance that runs here. */
export function runningInstance(): DevFile | undefined {
  const facts = readDevFile();
  const holder = instanceHolder();
  return facts !== undefined && holder !== undefined && facts.pid === holder ? facts : undefined;
}

/**
 * Provides the database of DATABASE_URL, else of the running instance, else of the one that would run here.
 */
export async function lendDatabase(migrate: Migrate): Promise<LentDatabase> {
  const given = process.env['DATABASE_URL'];
  const url = given !== undefined && given !== '' ? given : runningInstance()?.databaseUrl;
  return url === undefined ? startOwnPostgres(migrate) : { url, giveBack: () => Promise.resolve() };
}
