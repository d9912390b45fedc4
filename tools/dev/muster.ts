// npm run muster -- …: the command line. Where nothing else says which API or which database, it asks us: the instance
// that runs here answers, and a Postgres is started for a command on the database that finds none.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { lendDatabase, type LentDatabase, runningInstance } from './operators.ts';
import { repositoryRoot } from './repository.ts';

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Its owner may do everything but what is for operators of the installation. */
function localConnection(): { instance: { baseUrl: string; token: string } | null } {
  const { baseUrl = null, tokens = null } = runningInstance() ?? {};
  return { instance: baseUrl === null || tokens === null ? null : { baseUrl, token: tokens.owner } };
}

let lent: LentDatabase | undefined;

const child = fork(path.join(repositoryRoot, 'apps/cli/src/main.ts'), process.argv.slice(2), {
  execArgv: ['--enable-source-maps'],
});
// The child hears of them too, or is told by run.mjs; we must live on to stop Postgres.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
child.on('message', (message: { ask: 'connection' | 'database' }) => {
  void answer(message.ask).then((answered) => child.connected && child.send(answered));
});

async function answer(thing: 'connection' | 'database'): Promise<object> {
  if (thing === 'connection') return localConnection();
  try {
    // Most commands ask for no database, and should not wait for its driver to be read.
    const { migrate } = await import('@muster/migrations');
    lent ??= await lendDatabase(migrate);
    return { url: lent.url };
  } catch (error) {
    return { error: messageOf(error) };
  }
}

const [code] = (await once(child, 'exit')) as [number | null];
await lent?.giveBack();
process.exitCode = code ?? 1;
