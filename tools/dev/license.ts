// npm run license -- …: the operators' command line for licenses. Keys come from standard input.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { commandLineOf, runOperatorsProgram } from './operators.ts';

await runOperatorsProgram({
  app: 'license-service',
  migrate: (databaseUrl) =>
    promisify(execFile)(process.execPath, [commandLineOf('license-service'), 'migrate'], {
      env: { ...process.env, DATABASE_URL: databaseUrl },
    }),
});
