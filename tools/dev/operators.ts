// The operators' command lines, on the database of DATABASE_URL, else of the instance that runs here, else of the one
// that would run here, whose Postgres is started for the while.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { type DevFile, readDevFile } from './dev-file.ts';
import { claimInstance, instanceHolder } from './instance.ts';
import { startPostgres } from './postgres.ts';
import { repositoryRoot } from './repository.ts';

export interface OperatorsProgram {
  /** The app whose `src/cli.ts` it is. */
  readonly app: 'license-service';
  /** Makes its tables current in a Postgres that was only started for it. */
  readonly migrate: (databaseUrl: string) => Promise<unknown>;
}

export const commandLineOf = (app: OperatorsProgram['app']): string =>
  path.join(repositoryRoot, 'apps', app, 'src/cli.ts');

async function runCommandLine(
  app: OperatorsProgram['app'],
  databaseUrl: string,
  args: readonly string[],
): Promise<number> {
  const child = spawn(process.execPath, ['--enable-source-maps', commandLineOf(app), ...args], {
    stdio: 'inherit',
    env: { ...process.env, DATABASE_URL: databaseUrl },
  });
  // The child hears of them too, or is told by run.mjs; we must live on to stop Postgres.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}

/** A database to work on, for as long as the work takes. */
export interface LentDatabase {
  readonly url: string;
  readonly giveBack: () => Promise<void>;
}

/** Starts the Postgres of the instance that would run here, with its tables current. */
async function startOwnPostgres(migrate: OperatorsProgram['migrate']): Promise<LentDatabase> {
  const claim = await claimInstance();
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

/** What the instance that runs here says of itself. */
export async function runningInstance(): Promise<DevFile | undefined> {
  const facts = readDevFile();
  const holder = await instanceHolder();
  return facts !== undefined && holder !== undefined && facts.pid === holder ? facts : undefined;
}

/** The database of DATABASE_URL, else of the instance that runs here, else of the one that would. */
export async function lendDatabase(migrate: OperatorsProgram['migrate']): Promise<LentDatabase> {
  const given = process.env['DATABASE_URL'];
  const url = given !== undefined && given !== '' ? given : (await runningInstance())?.databaseUrl;
  return url === undefined ? startOwnPostgres(migrate) : { url, giveBack: () => Promise.resolve() };
}

async function run({ app, migrate }: OperatorsProgram, args: readonly string[]): Promise<number> {
  const database = await lendDatabase(migrate);
  try {
    return await runCommandLine(app, database.url, args);
  } finally {
    await database.giveBack();
  }
}

/** Runs a command line to its end; the process ends with its code. */
export async function runOperatorsProgram(
  program: OperatorsProgram,
  args = process.argv.slice(2),
): Promise<void> {
  process.exitCode = await run(program, args).catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  });
}
