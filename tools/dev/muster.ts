// npm run muster -- …: the command line. If nothing else names an API or a database, it asks this program,
// which returns the instance that runs here. For a command that needs a database and finds none it starts a
// Postgres.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { lendDatabase, type LentDatabase, runningInstance } from './operators.ts';
import { repositoryRoot } from './repository.ts';

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * Returns the running instance with its owner's token, which may do everything except operations for
 * operators of the installation.
 */
function localConnection(): { instance: { baseUrl: string; token: string } | null } {
  const { baseUrl = null, tokens = null } = runningInstance() ?? {};
  return { instance: baseUrl === null || tokens === null ? null : { baseUrl, token: tokens.owner } };
}

let lent: LentDatabase | undefined;

const child = fork(path.join(repositoryRoot, 'apps/cli/src/main.ts'), process.argv.slice(2), {
  execArgv: ['--enable-source-maps'],
});
// The child may receive these signals also from the terminal or from run.mjs. This process must outlive the
// child, because it then stops Postgres.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
child.on('message', (message: { ask: 'connection' | 'database' }) => {
  void answer(message.ask).then((answered) => child.connected && child.send(answered));
});

async function answer(thing: 'connection' | 'database'): Promise<object> {
  if (thing === 'connection') return localConnection();
  try {
    // Loads the driver on demand, because most commands need no database.
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
