// npm run license -- …: the operators' command line for licenses. Keys come from standard input.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { lendDatabase, licenseProgram } from './operators.ts';

async function runProgram(databaseUrl: string): Promise<number> {
  const child = spawn(process.execPath, ['--enable-source-maps', licenseProgram, ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: { ...process.env, DATABASE_URL: databaseUrl },
  });
  // The child may receive these signals also from the terminal or from run.mjs. This process must outlive the
  // child, because it then stops Postgres.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}

async function run(): Promise<number> {
  const database = await lendDatabase((databaseUrl) =>
    promisify(execFile)(process.execPath, [licenseProgram, 'migrate'], {
      env: { ...process.env, DATABASE_URL: databaseUrl },
    }),
  );
  try {
    return await runProgram(database.url);
  } finally {
    await database.giveBack();
  }
}

process.exitCode = await run().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  return 1;
});
