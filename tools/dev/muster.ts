// npm run muster -- …: the operators' command line, on the database of DATABASE_URL, else of the instance that runs
// here, else of the one that would run here, whose Postgres is started for the while.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { migrate } from '@muster/database';
import { readDevFile } from './dev-file.ts';
import { claimInstance, instanceHolder } from './instance.ts';
import { startPostgres } from './postgres.ts';
import { repositoryRoot } from './repository.ts';

const commandLine = path.join(repositoryRoot, 'apps/coordination-api/src/cli.ts');

async function runCommandLine(databaseUrl: string): Promise<number> {
  const child = spawn(process.execPath, ['--enable-source-maps', commandLine, ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: { ...process.env, DATABASE_URL: databaseUrl },
  });
  // The child hears of them too, or is told by run.mjs; we must live on to stop Postgres.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}

async function runOnOwnPostgres(): Promise<number> {
  const claim = await claimInstance();
  try {
    const postgres = await startPostgres({ durable: true });
    try {
      await migrate(postgres.url);
      return await runCommandLine(postgres.url);
    } finally {
      await postgres.stop();
    }
  } finally {
    claim.release();
  }
}

async function run(): Promise<number> {
  const given = process.env['DATABASE_URL'];
  if (given !== undefined && given !== '') return runCommandLine(given);
  const facts = readDevFile();
  const holder = await instanceHolder();
  if (facts !== undefined && holder !== undefined && facts.pid === holder)
    return runCommandLine(facts.databaseUrl);
  return runOnOwnPostgres();
}

process.exitCode = await run().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  return 1;
});
